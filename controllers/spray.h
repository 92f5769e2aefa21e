/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Common code of the controllers of sprayed transports (`report`): windows with a fraction, the product of
 * bandwidth and delay, the pace. A packet is a full payload of mss bytes; windows do not count headers.
 */
#ifndef TRESSE_SPRAY_H
#define TRESSE_SPRAY_H

#include "controller.h"

/* Windows are in packets, Q16. */
#define ONE_PACKET (1ULL << 16)
#define WIDEST ((u64)(CWND_LIMIT - 1) << 16)

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* a + b, as far as 32 bits go. */
static inline u32 add_u32(u32 a, u32 b)
{
	return a + min_u32(b, ~a);
}

/* Packets of one report, for products: more than 2^14 count as 2^14. */
static inline u64 few(u32 packets)
{
	return min_u32(packets, 1u << 14);
}

/* What line_rate carries in `time` ns: Q16 packets, from one to the widest window. */
static inline u64 carried(const struct subflow *s, const struct report *r, u32 time)
{
	u64 bytes = (u64)r->line_rate * time / 8000;
	u64 packets = bytes / s->mss;

	if (packets >= CWND_LIMIT - 1)
		return WIDEST;
	return max_u64(packets << 16 | (bytes % s->mss << 16) / s->mss, ONE_PACKET);
}

/* A window (Q16 packets) each `time` ns, not 0, as a pace: bytes/us, from 1 to what the line carries. */
static inline u32 pace_of(const struct subflow *s, const struct report *r, u64 window, u32 time)
{
	u64 pace = window * min_u32(s->mss, 0xffff) * 1000 / time >> 16; /* below 2^62 */

	return (u32)min_u64(max_u64(pace, 1), max_u64(r->line_rate / 8, 1));
}

/* A packet leaves if the window has room for all of it. */
static inline void use_window(struct subflow *s, u64 window)
{
	s->cwnd = max_u32((u32)(min_u64(window, WIDEST) >> 16), 1);
}

/* A packet leaves as long as less than the window is in flight. */
static inline void use_window_begun(struct subflow *s, u64 window)
{
	use_window(s, window + ONE_PACKET - 1);
}

#endif
