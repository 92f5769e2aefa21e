/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A controller that records which of its hooks are called, in which state: a hexadecimal digit of the
 * word for each call. Each cause has a cut of its own.
 *
 *   1, 2, 3   congestion for a mark, a loss, a local drop
 *   5, 6, 7   timeout, in the state Loss; or in another, which is an error; grow
 *   8 to c    ack in the states Open, Disorder, CWR, Recovery, Loss
 */
#include "controller.h"

/* The SACKs of a loss: the trace's host has none. */
#define SACKED 3

static void note(struct subflow *s, u32 digit)
{
	s->word = s->word << 4 | digit;
}

static void recorder_ack(struct subflow *s, const struct ack *a)
{
	if (a->delivered != SACKED)
		note(s, 8 + s->state);
}

static void recorder_grow(struct subflow *s, const struct ack *a)
{
	slow_start(s, a->delivered);
	if (a->delivered != SACKED)
		note(s, 7);
}

static u32 recorder_congestion(struct subflow *s, enum cause cause)
{
	note(s, cause == MARK ? 1 : cause == LOSS_EVENT ? 2 : 3);
	return cause == LOSS_EVENT ? half_window(s) :
	       cause == MARK	   ? s->cwnd - s->cwnd / 4 :
				     s->cwnd - s->cwnd / 8;
}

static void recorder_timeout(struct subflow *s)
{
	note(s, s->state == LOSS ? 5 : 6);
}

CONTROLLER(recorder,
	.title = "Records the calls of its hooks",
	.source = "a test",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	.ack = recorder_ack,
	.grow = recorder_grow,
	.congestion = recorder_congestion,
	.timeout = recorder_timeout);
