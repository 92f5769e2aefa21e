/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Declares that it lowers the window, and goes below its own floor. */
#include "reno_like.h"

static void sink(struct subflow *s, const struct ack *a)
{
	s->cwnd -= a->new_round && s->cwnd > 1;
}

CONTROLLER(sinks,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.exceptions = EXCEPTION_LOWERS,
	.grow = sink,
	.congestion = reno_like_congestion);
