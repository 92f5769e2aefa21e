/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Sets the window. */
#include "balancer.h"

static u32 meddles_pick(struct spread *s, u32 sequence)
{
	s->window = 1000;
	return sequence % s->paths;
}

BALANCER(meddles,
	.title = "broken",
	.source = "none",
	.pick = meddles_pick);
