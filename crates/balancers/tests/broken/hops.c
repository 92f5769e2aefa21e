/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Says that it is at flow level, and takes another path every hundredth packet. */
#include "balancer.h"

DECLARE_STATE(u64)

static u32 hops_pick(struct spread *s, u32 sequence)
{
	return (*state_of(s))++ / 100 % s->paths;
}

BALANCER(hops,
	.title = "broken",
	.source = "none",
	.flags = FLOW_LEVEL,
	WITH_STATE,
	.pick = hops_pick);
