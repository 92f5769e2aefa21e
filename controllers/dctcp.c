/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCTCP: a cut in proportion to the fraction of marked packets.
 *
 * Source: RFC 8257 §3.3; KH slide 6; catalogue S3.
 *
 *   each round             alpha = (1 - g) alpha + g F,  F = marked / delivered in that round
 *   marked window          w = w (1 - alpha/2), once a round
 *   congestion avoidance   w += 1/w for each packet delivered
 *   loss                   w = w/2
 *
 * alpha starts at 1, so that the first mark halves the window (RFC 8257 §3.3), g = 1/16 and the
 * floor is 2 packets, as in Linux. The cut is rounded down to whole packets, so a mark with
 * alpha w < 2 cuts nothing (as in Linux), and the fraction of a packet by which the window has grown
 * is discarded. With exact = 1 neither happens, as with windows in bytes (ns-3). A drop in the host's
 * own queue counts as a mark.
 *
 * Deviations from RFC 8257:
 *   - the ACK that begins a round counts in that round, not in the one that it ends.
 *   - a timeout drops the counts of the round that it ends.
 */
#include "dctcp_alpha.h"

#define PARAMETERS(P)                                                          \
	DCTCP_ALPHA_PARAMETERS(P)                                              \
	P(exact, 0, 0, 1, "", "1: cuts are not rounded to whole packets, as if windows were in bytes")
DECLARE_PARAMETERS

struct dctcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
	struct dctcp_alpha estimate;
};
DECLARE_STATE(struct dctcp)

static void dctcp_init(struct subflow *s)
{
	dctcp_alpha_init(&state_of(s)->estimate, PARAMETER(s, alpha_start));
}

static void dctcp_ack(struct subflow *s, const struct ack *a)
{
	dctcp_alpha_ack(&state_of(s)->estimate, a, PARAMETER(s, g_shift));
}

static void dctcp_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static u32 dctcp_congestion(struct subflow *s, enum cause cause)
{
	struct dctcp *d = state_of(s);

	if (cause != LOSS_EVENT && PARAMETER(s, exact))
		return dctcp_alpha_cut_exactly(&d->estimate, s->cwnd, &d->credit, 2);
	d->credit = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	return max_u32(dctcp_alpha_cut(&d->estimate, s->cwnd), 2);
}

static void dctcp_timeout(struct subflow *s)
{
	dctcp_alpha_timeout(&state_of(s)->estimate);
}

CONTROLLER(dctcp,
	.title = "DCTCP: a cut in proportion to the fraction of marked packets",
	.source = "RFC 8257 §3.3, KH slide 6",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(SEPARATE, "THESIS §5.3: the z-function is discontinuous")),
	FOLLOWS({ .growth = GROWTH_SEPARATE, .cutting = CUT_MARKED, .gain = HALVINGS(g_shift),
		  .answers = ANSWERS_ROUNDS,
		  .tolerance = 400 }), /* cuts of less than a packet are rounded */
	.init = dctcp_init,
	.ack = dctcp_ack,
	.grow = dctcp_grow,
	.congestion = dctcp_congestion,
	.timeout = dctcp_timeout);
