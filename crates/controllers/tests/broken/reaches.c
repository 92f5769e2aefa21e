/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Looks at one subflow too many: only the address sanitizer sees it. */
#include "reno_like.h"

static void look(struct subflow *s, const struct ack *a)
{
	const struct subflow *first = s - s->index;
	u64 total = 0;

	for (u32 i = 0; i <= s->count; i++)
		total += first[i].cwnd;
	s->word = total;
}

CONTROLLER(reaches,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.ack = look,
	.grow = reno_like_grow,
	.congestion = reno_like_congestion);
