/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Drains its queue, as delay-based controllers do, but does not declare it. */
#include "reno_like.h"

static void drain(struct subflow *s, const struct ack *a)
{
	if (s->srtt > 2 * s->min_rtt && s->cwnd > 100)
		s->cwnd--;
	else
		reno_like_grow(s, a);
}

CONTROLLER(lowers,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = drain,
	.congestion = reno_like_congestion);
