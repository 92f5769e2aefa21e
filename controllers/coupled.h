/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What the coupled increases share: the subflows' rates relative to each other, and LIA's increase. T
 * is the smoothed RTT, k runs over the subflows of the connection, r is the own one.
 */
#ifndef TRESSE_COUPLED_H
#define TRESSE_COUPLED_H

#include "controller.h"

/* The smallest RTT of the connection, 1/8 us. The own RTT must be known. */
static inline u32 shortest_rtt(const struct subflow *s)
{
	u32 shortest = s->srtt;

	FOR_EACH_SUBFLOW(p, s)
		if (p.srtt < shortest)
			shortest = p.srtt;
	return shortest;
}

/*
 * base/T, at most 1, in Q36 (RATIO_BITS). With every RTT divided by the smallest, base, a rate w/T
 * is at most 2^56 and the sum of 64 at most 2^62; base cancels wherever rates are compared.
 */
#define RATIO_BITS 36

static inline u64 rtt_ratio(u32 base, u32 rtt)
{
	return ((u64)base << RATIO_BITS) / rtt;
}

/* LIA's increase for one packet, RFC 6356 §3 eq. (1) and (2) (see lia.c), Q48 packets. */
static inline u64 lia_increase(const struct subflow *s)
{
	u64 reno = reno_increase(s);
	u64 total = 0, best = 0, coupled;
	u32 base;

	if (!s->srtt)
		return reno; /* no RTT sample: nothing to compare by */
	base = shortest_rtt(s);
	{
		FOR_EACH_SUBFLOW(p, s) {
			u64 ratio = rtt_ratio(base, p.srtt);
			u64 rate = p.cwnd * ratio;              /* w_k base/T_k, Q36 */
			u64 value = fix_mul_shr(rate, ratio, 30); /* w_k (base/T_k)^2, Q42 */

			total += rate;
			if (value > best)
				best = value;
		}
	}
	if (!best)
		return reno;
	coupled = fix_div_square_q48(best, 42, total, RATIO_BITS);
	return coupled < reno ? coupled : reno;
}

#endif
