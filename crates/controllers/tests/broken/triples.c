/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Declares a fast start, and adds three packets for each. */
#include "reno_like.h"

static void triple(struct subflow *s, const struct ack *a)
{
	if (s->cwnd < s->ssthresh)
		s->cwnd += 3 * a->delivered;
	else
		reno_like_grow(s, a);
}

CONTROLLER(triples,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.exceptions = EXCEPTION_FAST_START,
	.grow = triple,
	.congestion = reno_like_congestion);
