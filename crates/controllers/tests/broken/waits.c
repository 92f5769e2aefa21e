/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Grows like Reno while less than 500 us of its RTT is spent in queues, which is no ratio of RTTs. */
#include "reno_like.h"

static void grow_in_empty_queues(struct subflow *s, const struct ack *a)
{
	if (s->srtt - min_u32(s->srtt, s->min_rtt) < 8 * 500)
		reno_like_grow(s, a);
}

CONTROLLER(waits,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_RTT_RATIOS,
	.min_cwnd = 2,
	.grow = grow_in_empty_queues,
	.congestion = reno_like_congestion);
