/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Agent: a window that something outside of the simulator steers between two events. No list has it, and no
 * experiment can name it: a learning environment puts it in the place of a scheme's controller.
 *
 *   the host's word        lower half: what a round adds, 1/256 packet; bit 32: congestion halves the window
 *   each packet delivered  w += word/256/w, at most one packet
 *   loss or mark           half the window, or it stays: then to cut it is the agent's part
 *   after a timeout        slow start back to the window that the agent asked for last (ssthresh)
 */
#include "controller.h"

#define AGENT_HALVES (1ULL << 32)

struct agent {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct agent)

static void agent_grow(struct subflow *s, const struct ack *a)
{
	u64 round = min_u32((u32)s->word, 1u << 28);
	u64 increase = (round << 35) / s->cwnd << 5; /* Q48; the product stays below 2^63 */
	u32 left = slow_start(s, a->delivered);

	if (left && round)
		raise_window(s, &state_of(s)->credit, left, increase < 1ULL << 48 ? increase : 1ULL << 48);
}

static u32 agent_congestion(struct subflow *s, enum cause cause)
{
	if (s->word & AGENT_HALVES)
		return half_window(s);
	return cause == MARK ? IGNORE_MARK : s->cwnd;
}

CONTROLLER(agent,
	.title = "An agent outside of the simulator",
	.source = "Tresse",
	.signals = SIGNAL_LOSS | SIGNAL_CE_EXACT,
	.exceptions = EXCEPTION_IGNORES_MARK,
	.min_cwnd = 1,
	.grow = agent_grow, .congestion = agent_congestion);
