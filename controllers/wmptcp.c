/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * WMPTCP: every subflow a TCP of its own weight, so that a path's price can count.
 *
 * Source: THESIS (4.2); catalogue S19. omega_l is the weight of subflow l:
 *
 *   congestion avoidance   w_l += omega_l/w_l for each packet delivered
 *   loss or mark           w_l = w_l/2
 *
 * The weights are given by the subflows' places in the connection, omega_0 for the first, as in the
 * thesis's example of 0.75 for Wi-Fi and 0.25 for cellular: omega_0=750 omega_1=250. A weight that is not
 * given, and that of the fifth subflow and all later ones, is 1/m, m the number of subflows with an RTT
 * sample and the own one (the thesis has 1/2 for two). With every weight 1 the subflows are TCPs of
 * their own (reno.c). A weight is at most 1: no subflow grows faster than a TCP.
 *
 * Slow start is each subflow's own, unlike WUTCP's (wutcp.c). The smallest window is 2 packets (THESIS
 * §3.3.1). The thesis says nothing of marks: one is answered as a loss.
 */
#include "weights.h"

#define PARAMETERS(P) PLACE_PARAMETERS(P)
DECLARE_PARAMETERS

struct wmptcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct wmptcp)

static void wmptcp_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, weighted_increase(s, WEIGHT_BY_PLACE(s)));
}

static u32 wmptcp_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	return half_window(s);
}

CONTROLLER(wmptcp,
	.title = "WMPTCP: TCPs of given weights, so that a path's price can count",
	.source = "THESIS (4.2)",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "reno",
	WITH_PARAMETERS,
	.grow = wmptcp_grow,
	.congestion = wmptcp_congestion);
