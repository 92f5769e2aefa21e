/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Looks for a power of 2 of which the window is a multiple, and never ends if it passes 2. */
#include "reno_like.h"

static u32 cut_to_power(struct subflow *s, enum cause cause)
{
	volatile u32 window = s->cwnd;

	while (window != 2)
		window = window / 2;
	return window;
}

CONTROLLER(endless,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = cut_to_power);
