/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Divides by the rounds that were counted: a loss in the first one finds none. */
#include "reno_like.h"

static void count_rounds(struct subflow *s, const struct ack *a)
{
	state_of(s)->count += a->new_round;
}

static u32 cut_by_rounds(struct subflow *s, enum cause cause)
{
	return max_u32(s->cwnd - (u32)(s->cwnd / (2 * state_of(s)->count)), 2);
}

CONTROLLER(divides,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.ack = count_rounds,
	.grow = reno_like_grow,
	.congestion = cut_by_rounds);
