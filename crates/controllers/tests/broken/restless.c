/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Counts reports, and not what they tell. */
#include "controller.h"

static u32 fidget(struct subflow *s, const struct report *r)
{
	s->cwnd += s->cwnd < 100;
	return 0;
}

CONTROLLER(restless,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS,
	.min_cwnd = 1,
	.report = fidget);
