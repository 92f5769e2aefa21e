/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* A packet that is lost takes the whole window. */
#include "controller.h"

static u32 vanish(struct subflow *s, const struct report *r)
{
	s->cwnd = r->lost ? 0 : s->cwnd + r->delivered % 2;
	return 0;
}

CONTROLLER(vanishes,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS,
	.min_cwnd = 1,
	.report = vanish);
