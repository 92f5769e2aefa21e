/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* A mark raises small windows. */
#include "reno_like.h"

static u32 rise(struct subflow *s, enum cause cause)
{
	return cause == MARK ? 40 - s->cwnd / 2 : half_window(s);
}

CONTROLLER(rises_on_marks,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = rise);
