/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * EWTCP: every subflow is a TCP with the same, smaller weight.
 *
 * Source: Honda et al., PFLDNeT 2009, as in THESIS Table 3.1; catalogue S18. m is the number of
 * subflows:
 *
 *   congestion avoidance   w += a/w for each packet delivered, a = 1/m^2
 *   loss or mark           w  = w/2
 *
 * Which weight is fair to a TCP depends on the losses. If each packet is lost with the same probability,
 * w is proportional to the square root of a, and a = 1/m^2 gives each subflow one m-th of a TCP's rate:
 * Honda's weight, the default (rule = 3). If all flows lose at once, w is proportional to a, and a = 1/m
 * does: the thesis's weight (rule = 2). Wischik et al. (NSDI 2011) write 1/sqrt(m) (rule = 1).
 *
 * Only the own subflow and those with an RTT sample count for m. Slow start is each subflow's own: with
 * (3.16) instead, this would be WUTCP (wutcp.c). The smallest window is 2 packets (THESIS §3.3.1). A
 * mark is treated as a loss.
 */
#include "weights.h"
#include "window.h"

#define PARAMETERS(P) RULE_PARAMETER(P, 3)
DECLARE_PARAMETERS

static u64 increase(const struct subflow *s)
{
	return weighted_increase(s, weight_by_rule(s, PARAMETER(s, rule)));
}

CONTROLLER(ewtcp,
	.title = "EWTCP: equally weighted TCPs, none of which uses the others' windows",
	.source = "Honda et al., PFLDNeT 2009; THESIS Table 3.1",
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .coefficients = { .rule = VALUE_OF(rule) },
		    .standing = STANDING_CLAIMED, .source = "THESIS §3.4.1, (3.11)", .caveat = WEIGHT_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_SEPARATE, .weights = { .rule = VALUE_OF(rule) } }),
	COUPLED_WINDOW);
