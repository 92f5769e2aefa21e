/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Never goes back to a path of which it heard bad news, and never ends if there is no other. */
#include "balancer.h"

DECLARE_STATE(u64)
DECLARE_PATHS(u8)

static void stalls_feedback(struct spread *s, u32 path, enum feedback what)
{
	*path_of(s, path) = what != GOOD;
}

static u32 stalls_pick(struct spread *s, u32 sequence)
{
	volatile u64 *next = state_of(s);

	while (*path_of(s, *next % s->paths))
		*next = *next + 1;
	*next = *next + 1;
	return (*next - 1) % s->paths;
}

BALANCER(stalls,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	WITH_PATHS,
	.feedback = stalls_feedback,
	.pick = stalls_pick);
