/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Grows too fast from 12 packets on, and never returns at 7: some scripts with a smaller window do not end. */
#include "reno_like.h"

static void stall(struct subflow *s, const struct ack *a)
{
	volatile u32 window = s->cwnd;

	while (window == 7)
		;
	s->cwnd += a->delivered + (window >= 12);
}

CONTROLLER(stalls,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = stall,
	.congestion = reno_like_congestion);
