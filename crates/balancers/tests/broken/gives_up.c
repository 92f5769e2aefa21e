/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Leaves the last path out with one value of a parameter. */
#include "balancer.h"

#define PARAMETERS(P) P(last, 0, 0, 1, "", "1: the last path gets nothing")
DECLARE_PARAMETERS

static u32 gives_up_pick(struct spread *s, u32 sequence)
{
	u32 paths = s->paths - (s->paths > 1 ? (u32)PARAMETER(s, last) : 0);

	return sequence % paths;
}

BALANCER(gives_up,
	.title = "broken",
	.source = "none",
	WITH_PARAMETERS,
	.pick = gives_up_pick);
