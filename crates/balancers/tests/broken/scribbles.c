/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Its `alive` writes. */
#include "balancer.h"

DECLARE_STATE(u64)

static u32 scribbles_alive(const struct spread *s, u32 path)
{
	*state_of(s) += 1;
	return 1;
}

static u32 scribbles_pick(struct spread *s, u32 sequence)
{
	return sequence % s->paths;
}

BALANCER(scribbles,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	.pick = scribbles_pick,
	.alive = scribbles_alive);
