/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Leaps, as it declares, but not only where RTTs differ. */
#include "reno_like.h"

static void leap(struct subflow *s, const struct ack *a)
{
	if (s->cwnd < s->ssthresh)
		s->cwnd += 2 * a->delivered;
	else
		reno_like_grow(s, a);
}

CONTROLLER(leaps,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.exceptions = EXCEPTION_LEAPS,
	.grow = leap,
	.congestion = reno_like_congestion);
