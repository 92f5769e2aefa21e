/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * WMPTCP: every subflow is a TCP with its own weight, so that a path's price can count.
 *
 * Source: THESIS (4.2); catalogue S19. omega_l is the weight of subflow l:
 *
 *   congestion avoidance   w_l += omega_l/w_l for each packet delivered
 *   loss or mark           w_l = w_l/2
 *
 * The weights are given by the subflows' positions in the connection, omega_0 for the first, as in the
 * thesis's example of 0.75 for Wi-Fi and 0.25 for cellular: omega_0=750 omega_1=250. A weight that is not
 * given, and that of the fifth subflow and all later ones, is 1/m, with m the number of subflows with an
 * RTT sample, including the own one (the thesis has 1/2 for two). With all weights 1 the subflows are
 * separate TCPs (reno.c). A weight is at most 1: no subflow grows faster than a TCP.
 *
 * Slow start is each subflow's own, unlike in WUTCP (wutcp.c). The smallest window is 2 packets (THESIS
 * §3.3.1). The thesis says nothing about marks: a mark is treated as a loss.
 */
#include "weights.h"
#include "window.h"

#define PARAMETERS(P) PLACE_PARAMETERS(P, "1/m for m subflows")
DECLARE_PARAMETERS

static u64 increase(const struct subflow *s)
{
	return weighted_increase(s, WEIGHT_BY_PLACE(s, WEIGHT_COUNT));
}

CONTROLLER(wmptcp,
	.title = "WMPTCP: TCPs with given weights, so that a path's price can count",
	.source = "THESIS (4.2)",
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .coefficients = { PLACE_WEIGHTS, .rule = NUMBER(WEIGHT_COUNT) },
		    .standing = STANDING_CLAIMED, .source = "THESIS (4.2), as (3.17)", .caveat = WEIGHT_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_SEPARATE, .weights = { PLACE_WEIGHTS, .rule = NUMBER(WEIGHT_COUNT) } }),
	COUPLED_WINDOW);
