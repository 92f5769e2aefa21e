/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Takes Mbit/s for bytes/us. */
#include "controller.h"

static u32 race(struct subflow *s, const struct report *r)
{
	return r->trimmed ? r->line_rate : 0;
}

CONTROLLER(races,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS,
	.min_cwnd = 1,
	.report = race);
