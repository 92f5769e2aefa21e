/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Picks the number of paths every seventh packet: one too many. */
#include "balancer.h"

static u32 outside_pick(struct spread *s, u32 sequence)
{
	return sequence % 7 == 6 ? s->paths : sequence % s->paths;
}

BALANCER(outside,
	.title = "broken",
	.source = "none",
	.pick = outside_pick);
