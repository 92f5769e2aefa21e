/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Repairs its window in `ack`, which must not touch it. */
#include "reno_like.h"

static void repair(struct subflow *s, const struct ack *a)
{
	if (s->state == LOSS && s->cwnd < 4)
		s->cwnd = 4;
}

CONTROLLER(acks_move,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.ack = repair,
	.grow = reno_like_grow,
	.congestion = reno_like_congestion);
