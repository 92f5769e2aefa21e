/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Writes to the subflow after its own, even where there is none. */
#include "reno_like.h"

static u32 cut_next(struct subflow *s, enum cause cause)
{
	struct subflow *next = s + 1;

	next->cwnd = 2;
	return half_window(s);
}

CONTROLLER(strays,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = cut_next);
