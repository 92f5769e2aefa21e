/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Reno for each subflow, declared as coupled, with a planted defect: it ignores its siblings. */
#include "controller.h"

struct planted {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct planted)

static void planted_grow(struct subflow *s, const struct ack *a)
{
	u32 left;

	left = slow_start(s, a->delivered);
	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static u32 planted_congestion(struct subflow *s, enum cause cause)
{
	(void)cause;
	return half_window(s);
}

CONTROLLER(ignores,
	.title = "a controller with a planted defect",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.coupled = 1,
	.min_cwnd = 2,
	.grow = planted_grow,
	.congestion = planted_congestion);
