/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Declares a fast start, and adds four packets for each. */
#include "reno_like.h"

static void quadruple(struct subflow *s, const struct ack *a)
{
	if (s->cwnd < s->ssthresh)
		s->cwnd += 4 * a->delivered;
	else
		reno_like_grow(s, a);
}

CONTROLLER(quadruples,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.exceptions = EXCEPTION_FAST_START,
	.grow = quadruple,
	.congestion = reno_like_congestion);
