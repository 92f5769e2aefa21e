/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Says that it is Reno with one subflow, and cuts by a quarter. */
#include "reno_like.h"

static u32 quarter(struct subflow *s, enum cause cause)
{
	return max_u32(s->cwnd - s->cwnd / 4, 2);
}

CONTROLLER(pretends,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.single = "reno",
	.grow = reno_like_grow,
	.congestion = quarter);
