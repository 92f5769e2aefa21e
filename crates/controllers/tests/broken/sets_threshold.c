/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Sets ssthresh itself. */
#include "reno_like.h"

static void early_exit(struct subflow *s, const struct ack *a)
{
	reno_like_grow(s, a);
	if (s->srtt > 2 * s->min_rtt)
		s->ssthresh = s->cwnd;
}

CONTROLLER(sets_threshold,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = early_exit,
	.congestion = reno_like_congestion);
