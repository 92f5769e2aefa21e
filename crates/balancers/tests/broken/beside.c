/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Writes one path behind the last one when it hears of a trim. */
#include "balancer.h"

struct beside {
	u32 next;
};
DECLARE_STATE(struct beside)
DECLARE_PATHS(u64)

static void beside_feedback(struct spread *s, u32 path, enum feedback what)
{
	*path_of(s, path + (what == TRIM)) += 1;
}

static u32 beside_pick(struct spread *s, u32 sequence)
{
	return state_of(s)->next++ % s->paths;
}

BALANCER(beside,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	WITH_PATHS,
	.feedback = beside_feedback,
	.pick = beside_pick);
