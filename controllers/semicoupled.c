/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Semicoupled: the connection grows by one packet a round, shared among the subflows by their rates.
 *
 * Source: THESIS (4.1) and Table 3.1, after Peng et al., ToN 2016; catalogue S15, S16, S20. T is the
 * smoothed RTT, k runs over the subflows of the connection, r is the own one:
 *
 *   congestion avoidance   w_r += 1 / (T_r sum_k w_k/T_k)   for each packet delivered
 *   loss or mark           w_r = w_r/2
 *
 * With x = w/T this is w_r += x_r / sum_k x_k per round. The thesis has three names for this rule:
 *
 *   semicoupled   Table 3.1. Not the SEMICOUPLED of Wischik et al. (NSDI 2011), which adds a/w_total for
 *                 each packet, as the thesis's footnote says.
 *   emptcp        (4.1), the equal-share part of H-MPTCP (hmptcp.c).
 *   eutcp1        EUTCP with gamma = 1 (eutcp.c), (3.9) and (3.10).
 *
 * Slow start is each subflow's own: (3.9) with gamma = 1 is Reno's, and chapter 4 says so of EMPTCP. The
 * smallest window is 2 packets (THESIS §3.3.1). The increase is never above 1/w_r, and exact to 1e-5 for
 * RTTs between 5 us and 1 s; with one subflow it is Reno's to the last digit.
 *
 * The thesis treats a timeout as a loss; here it is handled by the host, as for every controller, with a
 * window of 1 packet and a slow start. The thesis says nothing about marks: a mark is treated as a loss.
 * A subflow without an RTT sample grows as in Reno.
 */
#include "coupled.h"
#include "window.h"

static u64 increase(const struct subflow *s)
{
	return semicoupled_increase(s);
}

CONTROLLER(semicoupled,
	.title = "Semicoupled: one packet per round, shared in proportion to the subflows' rates",
	.source = "THESIS Table 3.1; Peng et al., ToN 2016",
	MAXIMISES({ .utility = UTILITY_TCP, .pooling = POOLED, .standing = STANDING_PROVED,
		    .source = "THESIS (3.4), (3.10) with every γ = 1",
		    .caveat = "For one binary signal per round and equal RTTs. With independent packet losses path "
			      "l's price is 2/(T² x_l y), y the total: such derivatives are not symmetric, so no utility has them." }),
	FOLLOWS({ .growth = GROWTH_SHARED }),
	COUPLED_WINDOW);

ALIAS(emptcp, semicoupled,
	.title = "EMPTCP: Semicoupled under the name of the thesis's chapter 4",
	.source = "THESIS (4.1)");

ALIAS(eutcp1, semicoupled,
	.title = "EUTCP(1): Semicoupled as the first of the EUTCP family",
	.source = "THESIS (3.9), (3.10)");
