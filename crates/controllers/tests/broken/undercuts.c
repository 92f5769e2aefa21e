/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Halves below the floor that it declares. */
#include "reno_like.h"

static u32 half(struct subflow *s, enum cause cause)
{
	return max_u32(s->cwnd / 2, 1);
}

CONTROLLER(undercuts,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = half);
