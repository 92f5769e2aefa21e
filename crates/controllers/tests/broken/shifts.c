/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* A shift by as many bits as there are, for windows of 2^20 packets: only a sanitizer sees it. */
#include "reno_like.h"

static void scale(struct subflow *s, const struct ack *a)
{
	state_of(s)->count = 1ULL << (44 + fix_msb(s->cwnd));
}

CONTROLLER(shifts,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.ack = scale,
	.grow = reno_like_grow,
	.congestion = reno_like_congestion);
