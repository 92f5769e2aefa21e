/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Never goes back to a path that was marked once, and says that it is alive. */
#include "balancer.h"

DECLARE_STATE(u64)
DECLARE_PATHS(u8)

static void starves_feedback(struct spread *s, u32 path, enum feedback what)
{
	if (what == ECN)
		*path_of(s, path) = 1;
}

static u32 starves_pick(struct spread *s, u32 sequence)
{
	for (u32 i = 0; i < s->paths; i++) {
		u32 path = (*state_of(s))++ % s->paths;

		if (!*path_of(s, path))
			return path;
	}
	return 0;
}

BALANCER(starves,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	WITH_PATHS,
	.feedback = starves_feedback,
	.pick = starves_pick);
