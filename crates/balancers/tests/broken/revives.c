/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Retires a path on a timeout, and takes it all the same. */
#include "balancer.h"

DECLARE_STATE(u64)
DECLARE_PATHS(u8)

static void revives_feedback(struct spread *s, u32 path, enum feedback what)
{
	if (what == TIMEOUT)
		*path_of(s, path) = 1;
}

static u32 revives_pick(struct spread *s, u32 sequence)
{
	return (*state_of(s))++ % s->paths;
}

static u32 revives_alive(const struct spread *s, u32 path)
{
	return !*path_of(s, path);
}

BALANCER(revives,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	WITH_PATHS,
	.feedback = revives_feedback,
	.pick = revives_pick,
	.alive = revives_alive);
