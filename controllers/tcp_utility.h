/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Common code of the controllers derived from TCP's utility (THESIS (2.21)-(2.23); EUTCP, WUTCP): powers,
 * and a slow start whose pace is not Reno's.
 */
#ifndef TRESSE_TCP_UTILITY_H
#define TRESSE_TCP_UTILITY_H

#include "controller.h"

/* 1 in Q30. */
#define ONE_Q30 (1u << 30)

/*
 * S in 1 - (1 - u)^a = a u S, Q30, for u at most 2/3 and a at most 2, both in Q30; exactly 1 for a = 1. It
 * is the binomial series, which loses nothing for small u and of which all terms but one are positive:
 *
 *   S = 1 + (1 - a) u/2 (1 + (2 - a) u/3 (1 + (3 - a) u/4 (1 + …)))
 *
 * 48 terms leave less than 2^-30 at u = 2/3. No bracket is above 3, and so no product above 2^62.
 */
static inline u64 power_series(u64 u, u64 a)
{
	u64 series = ONE_Q30, half;

	for (u32 k = 48; k >= 2; k--) {
		u64 factor = (((u64)k << 30) - a) / (k + 1);

		series = ONE_Q30 + ((series * u >> 30) * factor >> 30);
	}
	half = (series * u >> 30) / 2;
	if (a < ONE_Q30)
		return ONE_Q30 + ((ONE_Q30 - a) * half >> 30);
	return ONE_Q30 - ((a - ONE_Q30) * half >> 30);
}

/*
 * (3/2) (1 - 3^-a) in Q30: the pace of slow start, z f of THESIS (2.12), (2.13) and (2.23) with the rate
 * of increase rho = 1 and of decrease beta = 1/2 (Reno's, of a round) for a utility a U_tcp. Exactly 1
 * for a = 1: 2/3 is rounded up, half of a last digit then down.
 */
static inline u64 slow_start_pace(u64 a)
{
	u64 u = ((2ULL << 30) + 2) / 3;

	return 3 * ((u * power_series(u, a) >> 30) * a >> 30) / 2;
}

/*
 * Slow start where a packet delivered is worth `gain` packets (Q48, not 0, below 4; counted in Q40): each
 * that finds the window, with its fraction in *credit, below ssthresh. Returns the packets that are left.
 */
static inline u32 scaled_slow_start(struct subflow *s, u64 *credit, u32 delivered, u64 gain)
{
	/* 2^21 packets are more than a window, and the products stay below 2^63. */
	u64 n = delivered < (1u << 21) ? delivered : 1u << 21;
	u64 room = s->cwnd < s->ssthresh ? s->ssthresh - s->cwnd : 0;
	u64 needed, used, sum;

	if (!room)
		return delivered;
	if (room > 1u << 22)
		room = 1u << 22;
	gain = (gain + 0xff) >> 8; /* up, so that 20 packets of 1.05 are 21 */
	needed = ((room << 40) - (*credit >> 8) + gain - 1) / gain;
	used = needed < n ? needed : n;
	sum = used * gain + (*credit >> 8);
	s->cwnd += (u32)(sum >> 40);
	*credit = (sum & ((1ULL << 40) - 1)) << 8 | (*credit & 0xff);
	return needed <= n ? delivered - (u32)used : 0;
}

#endif
