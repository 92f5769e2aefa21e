/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Only the first subflow grows in congestion avoidance. */
#include "reno_like.h"

static void first_only(struct subflow *s, const struct ack *a)
{
	if (s->cwnd < s->ssthresh || !s->index)
		reno_like_grow(s, a);
}

CONTROLLER(prefers,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = first_only,
	.congestion = reno_like_congestion);
