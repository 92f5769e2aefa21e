/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Claims never to grow faster than Reno, and does by a half. */
#include "reno_like.h"

static void outgrow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left && s->cwnd > 1)
		raise_window(s, &state_of(s)->credit, left, 3 * reno_increase(s) / 2);
}

CONTROLLER(outgrows,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.claims = CLAIM_NOT_ABOVE_RENO,
	.grow = outgrow,
	.congestion = reno_like_congestion);
