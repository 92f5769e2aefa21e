/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Claims that only ratios of RTTs matter, and grows faster where the RTT is long. */
#include "reno_like.h"

static void by_rtt(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s) / (s->srtt < 8000 ? 2 : 1));
}

CONTROLLER(depends,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.claims = CLAIM_RTT_RATIOS,
	.grow = by_rtt,
	.congestion = reno_like_congestion);
