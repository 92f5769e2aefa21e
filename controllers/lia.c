/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * LIA, the Linked Increases Algorithm: Multipath TCP's standard coupling.
 *
 * Source: RFC 6356 §3, eq. (1) and (2); catalogue S12. T is the smoothed RTT, k runs over the
 * subflows of the connection, r is the own one:
 *
 *   congestion avoidance   w_r += min( max_k(w_k/T_k^2) / (sum_k w_k/T_k)^2 , 1/w_r )
 *                          for each packet delivered
 *   loss or mark           w_r = w_r/2
 *
 * RFC 6356 writes alpha / w_total for the first term, with
 * alpha = w_total * max_k(w_k/T_k^2) / (sum_k w_k/T_k)^2; w_total cancels. The second term keeps
 * a subflow from growing faster than a TCP would on its path. Slow start is each subflow's own.
 *
 * Computed anew at every ACK; RFC 6356 §4.1 lets it be done once a round. Windows are counted in
 * packets, and delivered packets are counted, not calls (the old MPTCP kernel counted calls, and
 * had no resolution above some 1000 packets). The increase is exact to 1e-5, or to its last digit,
 * 2^-48 packets.
 */
#include "coupled.h"

struct lia {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct lia)

static void lia_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, lia_increase(s));
}

static u32 lia_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	return half_window(s);
}

CONTROLLER(lia,
	.title = "LIA: Multipath TCP's linked increases",
	.source = "RFC 6356 §3",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "reno",
	.grow = lia_grow,
	.congestion = lia_congestion);
