/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Common code of the coupled increases: the subflows' rates relative to each other, and the increases
 * that more than one controller uses. T is the smoothed RTT, k runs over the subflows of the connection,
 * r is the own one.
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

/*@ ensures \result <= (1 << 36); */
static inline u64 rtt_ratio(u32 base, u32 rtt)
{
	return ((u64)base << RATIO_BITS) / rtt;
}

/* sum_k w_k base/T_k, Q36. Not 0 if the own RTT is known. */
static inline u64 total_rate(const struct subflow *s, u32 base)
{
	u64 total = 0;

	FOR_EACH_SUBFLOW(p, s)
		total += p.cwnd * rtt_ratio(base, p.srtt);
	return total;
}

/* Whether nobody adds to the sum but the own subflow: then a quotient is 1/w_r, but for its last digit. */
static inline u32 is_alone(const struct subflow *s, u32 base, u64 total)
{
	return total == s->cwnd * rtt_ratio(base, s->srtt);
}

/*
 * (w_r/T_r^2) / (sum_k w_k/T_k)^2, Q48 packets. base is the smallest RTT, total the sum of
 * w_k base/T_k, Q36. The own RTT must be known.
 */
static inline u64 share_increase(const struct subflow *s, u32 base, u64 total)
{
	/*
	 * = w_r base^2 / (T_r total)^2: base^2 keeps 42 bits, the sum 36. What base^2 gives up is an
	 * even number of bits, half of which the denominator takes over.
	 */
	u64 square = (u64)base * base;
	u32 high = fix_msb(square), top = fix_msb(total);
	u32 given = high > 42 ? (high - 41) / 2 : 0, spare = top > 36 ? top - 36 : 0;

	return fix_div_square_q48(s->cwnd * (square >> 2 * given), 0, s->srtt * (total >> spare),
				  RATIO_BITS - spare + given);
}

/*
 * The Semicoupled increase for one packet, 1 / (T_r sum_k w_k/T_k) (see semicoupled.c), Q48 packets;
 * exact to 1e-5 for RTTs between 5 us and 1 s. It is at most 1/w_r, and rounding does not take it above.
 */
static inline u64 semicoupled_increase(const struct subflow *s)
{
	u64 reno = reno_increase(s);
	u64 total, increase;
	u32 base, top, spare;

	if (!s->srtt)
		return reno; /* no RTT sample: nothing to compare by */
	base = shortest_rtt(s);
	total = total_rate(s, base);
	if (!total || is_alone(s, base, total))
		return reno;
	/* = base / (T_r total): the sum keeps 36 bits, so that the product, with T_r below 2^27, fits. */
	top = fix_msb(total);
	spare = top > 35 ? top - 35 : 0;
	increase = fix_div_q48(base, 0, s->srtt * (total >> spare), RATIO_BITS - spare);
	return increase < reno ? increase : reno;
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
	if (!best || is_alone(s, base, total))
		return reno;
	coupled = fix_div_square_q48(best, 42, total, RATIO_BITS);
	return coupled < reno ? coupled : reno;
}

#endif
