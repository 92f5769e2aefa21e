/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Takes a packet from its sibling when it is cut itself. */
#include "reno_like.h"

static u32 cut_both(struct subflow *s, enum cause cause)
{
	struct subflow *sibling = s->index ? s - 1 : s + 1;

	if (s->count > 1)
		sibling->word--;
	return half_window(s);
}

CONTROLLER(meddles,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = reno_like_grow,
	.congestion = cut_both);
