/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * O-DCTCP, Optimal DCTCP: DCTCP with a control that is continuous in the fraction of marked packets.
 *
 * Source: THESIS (5.1)-(5.14); catalogue S8 and 0.6. w is the window, alpha the fraction of packets
 * that were marked in the last round:
 *
 *   congestion avoidance   alpha < 0.5: w += (1 - alpha)/w for each packet delivered, (1 - alpha) mu
 *                          a round with mu = 1 packet; marks are ignored
 *                          alpha >= 0.5: no growth; a mark cuts w to w (1 - alpha beta), beta = 1/2,
 *                          once a round
 *   loss                   w = w/2
 *
 * EXCEPTION to the contract: `congestion` ignores a mark in congestion avoidance while alpha is below
 * 0.5. The thesis moves the point at which DCTCP turns from increase to decrease from alpha = 0 to
 * 0.5, where both of its rules have the same size; so a window keeps growing although marks arrive.
 *
 * The thesis speaks of "the fraction of packets that are marked in one RTT" and cites DCTCP, whose
 * alpha is a moving average. The default follows its words; g_shift above 0 is DCTCP's average with
 * g = 2^-g_shift. alpha starts at 0, because nothing was marked yet.
 *
 * Slow start and losses, which the thesis does not cover, are as in DCTCP (dctcp.c): a mark in slow start
 * ends it with the cut w (1 - alpha/2), whatever alpha is. So are the floor of 2 packets, the rounding of
 * the cut, the round in which an ACK counts, and a drop in the host's own queue, which is never ignored.
 * The thesis does not evaluate O-DCTCP. Half of a round's packets must be marked before a window shrinks,
 * and then it loses at least a quarter, where DCTCP cuts early and little: queues rise further above K and
 * fall further below it (crates/sim/tests/it/snapshots: 11 packets on average for K = 20, where DCTCP
 * holds 20).
 */
#include "dctcp_alpha.h"

#define PARAMETERS(P)                                                          \
	P(g_shift, 0, 0, 10, "bit",                                            \
	  "alpha's weight of the newest round: g = 2^-g_shift; 0: alpha is that round's marked fraction")
DECLARE_PARAMETERS

struct odctcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
	struct dctcp_alpha estimate;
};
DECLARE_STATE(struct odctcp)

#define ONE (1u << 20) /* alpha = 1, Q20 */

static void odctcp_ack(struct subflow *s, const struct ack *a)
{
	dctcp_alpha_ack(&state_of(s)->estimate, a, PARAMETER(s, g_shift));
}

/* (1 - alpha)/w, Q48, rounded up as Reno's; 0 from alpha = 0.5 on. */
static u64 odctcp_increase(const struct subflow *s, u32 alpha)
{
	if (alpha >= ONE / 2)
		return 0;
	return (((u64)(ONE - alpha) << 28) + s->cwnd - 1) / s->cwnd;
}

static void odctcp_grow(struct subflow *s, const struct ack *a)
{
	struct odctcp *o = state_of(s);
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &o->credit, left, odctcp_increase(s, o->estimate.alpha));
}

static u32 odctcp_congestion(struct subflow *s, enum cause cause)
{
	struct odctcp *o = state_of(s);

	if (cause == MARK && s->cwnd >= s->ssthresh && o->estimate.alpha < ONE / 2)
		return IGNORE_MARK;
	o->credit = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	return max_u32(dctcp_alpha_cut(&o->estimate, s->cwnd), 2);
}

static void odctcp_timeout(struct subflow *s)
{
	dctcp_alpha_timeout(&state_of(s)->estimate);
}

CONTROLLER(odctcp,
	.title = "O-DCTCP: DCTCP that grows below half of the packets marked, and shrinks above",
	.source = "THESIS (5.14)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.exceptions = EXCEPTION_IGNORES_MARK,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .standing = STANDING_PROVED, .source = "THESIS (5.2), (5.14)",
		    .caveat = "Congestion means that at least half of the packets are marked; feedback delays are not covered.",
		    /* A congested round by itself is not answered: alpha is that of the round before. */
		    .tolerance = NOT_JUDGED }),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.ack = odctcp_ack,
	.grow = odctcp_grow,
	.congestion = odctcp_congestion,
	.timeout = odctcp_timeout);
