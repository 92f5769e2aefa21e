/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Common code of the controllers that differ from Reno only in their increase: slow start is each subflow's
 * own, a packet delivered in congestion avoidance raises the window by increase(s), and a loss or a mark
 * halves it. A file defines increase() and declares itself with one of the two lists at the end.
 */
#ifndef TRESSE_WINDOW_H
#define TRESSE_WINDOW_H

#include "controller.h"

/* What one packet delivered adds to the window, Q48 packets, at most one: the controller's equation. */
static u64 increase(const struct subflow *s);

struct window {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct window)

static void window_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, increase(s));
}

static u32 window_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	return half_window(s);
}

#define WINDOW                                                                 \
	.signals = SIGNAL_LOSS, .min_cwnd = 2,                                 \
	.grow = window_grow, .congestion = window_congestion

/* With an increase that looks at the siblings, is never above Reno's, and is Reno's without siblings. */
#define COUPLED_WINDOW                                                         \
	WINDOW, .claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,             \
	.coupled = 1, .single = "reno"

#endif
