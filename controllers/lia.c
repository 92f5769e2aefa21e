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
 * The increase is recomputed at every ACK; RFC 6356 §4.1 allows once a round. Windows are counted in
 * packets, and delivered packets are counted, not calls (the old MPTCP kernel counted calls, and
 * had no resolution above some 1000 packets). The increase is exact to 1e-5, or to its last digit,
 * 2^-48 packets.
 */
#include "coupled.h"
#include "window.h"

static u64 increase(const struct subflow *s)
{
	return lia_increase(s);
}

CONTROLLER(lia,
	.title = "LIA: Multipath TCP's linked increases",
	.source = "RFC 6356 §3",
	MAXIMISES(RENO_INSTEAD(POOLED, "RFC 6356 §2 has goals but no utility; THESIS §3.1")),
	FOLLOWS({ .growth = GROWTH_LINKED }),
	COUPLED_WINDOW);
