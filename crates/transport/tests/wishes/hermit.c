/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* For tests: ignores every mark, and wishes to be alone from a marked ACK to the next unmarked one. */
#include "controller.h"

static void hermit_ack(struct subflow *s, const struct ack *a)
{
	s->alone = a->marked > 0;
}

static void hermit_grow(struct subflow *s, const struct ack *a)
{
	s->cwnd += a->delivered;
}

static u32 hermit_congestion(struct subflow *s, enum cause cause)
{
	return cause == MARK ? IGNORE_MARK : half_window(s);
}

CONTROLLER(hermit,
	.title = "for tests",
	.source = "none",
	.signals = SIGNAL_LOSS | SIGNAL_ECN,
	.exceptions = EXCEPTION_IGNORES_MARK,
	.min_cwnd = 2,
	.ack = hermit_ack,
	.grow = hermit_grow,
	.congestion = hermit_congestion);
