/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * BOS, Buffer Occupancy Suppression: XMP's control of a single path (XMP §2.1, Algorithm 1; see bos.c),
 * for every controller that adds once a round and cuts by a constant factor.
 */
#ifndef TRESSE_BOS_H
#define TRESSE_BOS_H

#include "controller.h"

/* delta of a path that is alone, Q20. */
#define BOS_ONE_PACKET (1ULL << 20)

struct bos {
	u64 adder;   /* fraction of a packet still to add, Q20 */
	u64 pending; /* delta of a finished round that `grow` has not added yet, Q20 */
};

/* Whether the end of a round earns its delta: Algorithm 1's state NORMAL, in congestion avoidance. */
static inline u32 bos_earns(const struct subflow *s)
{
	return s->state != CWR && s->state != RECOVERY && s->cwnd >= s->ssthresh;
}

/*
 * Slow start, or what the round has earned: not both, should the window have been restarted below
 * ssthresh since, as a host does that was idle.
 */
static inline void bos_grow(struct subflow *s, struct bos *b, u32 delivered)
{
	b->adder += s->cwnd < s->ssthresh ? 0 : b->pending;
	b->pending = 0;
	slow_start(s, delivered);
	s->cwnd += (u32)(b->adder >> 20);
	b->adder &= BOS_ONE_PACKET - 1;
}

/* The window after a mark or a loss. beta must not be 0. */
static inline u32 bos_congestion(const struct subflow *s, struct bos *b, enum cause cause, u32 beta)
{
	b->pending = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	if (s->cwnd < s->ssthresh)
		return s->cwnd;
	return max_u32(s->cwnd - max_u32(s->cwnd / beta, 1), 2);
}

#endif
