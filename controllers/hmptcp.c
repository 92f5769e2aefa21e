/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * H-MPTCP: on each subflow the larger increase of EMPTCP and WMPTCP.
 *
 * Source: THESIS (4.3)-(4.5); catalogue S21. T is the smoothed RTT, k runs over the subflows of the
 * connection, l is the own one, omega_l its weight:
 *
 *   congestion avoidance   w_l += max( omega_l/w_l , 1 / (T_l sum_k w_k/T_k) )
 *                          for each packet delivered
 *   loss or mark           w_l = w_l/2
 *
 * (4.5) adds the maximum of omega_l and x_l / sum_k x_k, x = w/T, once a round: divided by w_l for one
 * packet. The thesis's text says that the protocol selects WMPTCP or EMPTCP; the rule selects for each
 * subflow and each update, and so does this file.
 *
 * Weights are given as in wmptcp.c, by the subflows' positions; a weight that is not given is 1/m (the
 * thesis's 1/S), with m the number of subflows with an RTT sample, including the own one. The thesis
 * measured only 1/S, although the rule is meant for weights by price.
 *
 * Slow start is each subflow's own (4.4), and the smallest window 2 packets (THESIS §3.3.1). The increase
 * is never above 1/w_l, and as exact as in semicoupled.c. The thesis says nothing about marks: a mark is
 * treated as a loss. A subflow without an RTT sample grows as in Reno.
 */
#include "coupled.h"
#include "weights.h"
#include "window.h"

#define PARAMETERS(P) PLACE_PARAMETERS(P, "1/m for m subflows")
DECLARE_PARAMETERS

static u64 increase(const struct subflow *s)
{
	u64 equal = semicoupled_increase(s);
	u64 weighted = weighted_increase(s, WEIGHT_BY_PLACE(s, WEIGHT_COUNT));

	return weighted > equal ? weighted : equal;
}

CONTROLLER(hmptcp,
	.title = "H-MPTCP: the larger increase of EMPTCP and WMPTCP, with weights for prices",
	.source = "THESIS (4.3)-(4.5)",
	WITH_PARAMETERS,
	MAXIMISES({ .source = "THESIS (4.3)-(4.5)",
		    .caveat = "The larger of two increases; §6 leaves a NUM-optimal hybrid to future work." }),
	FOLLOWS({ .growth = GROWTH_LARGER, .weights = { PLACE_WEIGHTS, .rule = NUMBER(WEIGHT_COUNT) } }),
	COUPLED_WINDOW);
