/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Looks for a path that is good, and never ends if there is none. */
#include "balancer.h"

DECLARE_STATE(u64)
DECLARE_PATHS(u8)

static void endless_feedback(struct spread *s, u32 path, enum feedback what)
{
	*path_of(s, path) = what != GOOD;
}

static u32 endless_pick(struct spread *s, u32 sequence)
{
	volatile u64 *next = state_of(s);

	while (*path_of(s, *next % s->paths))
		*next = *next + 1;
	*next = *next + 1;
	return (*next - 1) % s->paths;
}

static u32 endless_alive(const struct spread *s, u32 path)
{
	return !*path_of(s, path);
}

BALANCER(endless,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	WITH_PATHS,
	.feedback = endless_feedback,
	.pick = endless_pick,
	.alive = endless_alive);
