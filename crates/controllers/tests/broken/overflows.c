/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Keeps the window of the last round in 16 bits. */
#include "reno_like.h"

static void narrow(struct subflow *s, const struct ack *a)
{
	u16 window = (u16)s->cwnd;

	reno_like_grow(s, a);
	if (a->new_round && s->cwnd > window + a->delivered)
		s->cwnd = window + a->delivered;
}

CONTROLLER(overflows,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = narrow,
	.congestion = reno_like_congestion);
