/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Has a memory outside of its state. */
#include "balancer.h"

static u32 remembers_pick(struct spread *s, u32 sequence)
{
	static u32 next;

	return next++ % s->paths;
}

BALANCER(remembers,
	.title = "broken",
	.source = "none",
	.pick = remembers_pick);
