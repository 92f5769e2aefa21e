/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Has a memory outside of its subflow. */
#include "reno_like.h"

static u32 losses;

static u32 cut_every_other(struct subflow *s, enum cause cause)
{
	return losses++ % 2 ? half_window(s) : max_u32(s->cwnd - 1, 2);
}

CONTROLLER(remembers,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = cut_every_other);
