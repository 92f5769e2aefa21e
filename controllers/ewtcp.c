/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * EWTCP: every subflow a TCP of the same, smaller weight.
 *
 * Source: Honda et al., PFLDNeT 2009, as in THESIS Table 3.1; catalogue S18. m is the number of
 * subflows:
 *
 *   congestion avoidance   w += a/w for each packet delivered, a = 1/m^2
 *   loss or mark           w  = w/2
 *
 * Which weight is fair to a TCP depends on the losses. If each packet is lost with the same probability, w
 * goes with the root of a, and a = 1/m^2 gives each subflow one m-th of a TCP's rate: Honda's weight, the
 * default (rule = 3). If all flows lose at once, w goes with a, and a = 1/m does: the thesis's (rule = 2).
 * Wischik et al. (NSDI 2011) write 1/sqrt(m) (rule = 1).
 *
 * Only subflows with an RTT sample count for m, and the own one. Slow start is each subflow's own: with
 * (3.16) in its place this would be WUTCP (wutcp.c). The smallest window is 2 packets (THESIS §3.3.1). A
 * mark is answered as a loss.
 */
#include "weights.h"

#define PARAMETERS(P) RULE_PARAMETER(P, 3)
DECLARE_PARAMETERS

struct ewtcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct ewtcp)

static void ewtcp_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left,
			     weighted_increase(s, weight_by_rule(s, PARAMETER(s, rule))));
}

static u32 ewtcp_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	return half_window(s);
}

CONTROLLER(ewtcp,
	.title = "EWTCP: equally weighted TCPs, none looking at the others' windows",
	.source = "Honda et al., PFLDNeT 2009; THESIS Table 3.1",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "reno",
	WITH_PARAMETERS,
	.grow = ewtcp_grow,
	.congestion = ewtcp_congestion);
