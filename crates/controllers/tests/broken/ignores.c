/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Ignores a mark, and does not declare it. */
#include "reno_like.h"

static u32 ignore_first(struct subflow *s, enum cause cause)
{
	return cause == MARK && !state_of(s)->count++ ? IGNORE_MARK : half_window(s);
}

CONTROLLER(ignores,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = ignore_first);
