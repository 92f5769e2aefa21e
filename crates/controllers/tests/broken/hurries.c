/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Two packets for each in slow start, and does not declare it. */
#include "reno_like.h"

static void hurry(struct subflow *s, const struct ack *a)
{
	if (s->cwnd < s->ssthresh)
		s->cwnd += 2 * a->delivered;
	else
		reno_like_grow(s, a);
}

CONTROLLER(hurries,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = hurry,
	.congestion = reno_like_congestion);
