/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The fully coupled increase: what the thesis prints instead of LIA.
 *
 * Source: THESIS Table 3.1, line "LIA (Coupled)"; catalogue S12. T is the smoothed RTT, k runs over the
 * subflows of the connection, r is the own one:
 *
 *   congestion avoidance   w_r += (w_r/T_r^2) / (sum_k w_k/T_k)^2   for each packet delivered
 *   loss or mark           w_r = w_r/2
 *
 * RFC 6356 has the largest w_k/T_k^2 in the numerator, and 1/w_r as a bound (lia.c). Without the maximum
 * the bound is never reached: the increase is the square of the subflow's share of the rate, divided by
 * w_r. It is OLIA's with alpha = 0, and a subflow that has little gets little more. The thesis measured
 * the kernel's LIA, not this rule; it is here for comparison.
 *
 * Slow start is each subflow's own, and the smallest window 2 packets (THESIS §3.3.1). The increase is
 * exact to 1e-5 for RTTs between 5 us and 1 s, or to its last digit, 2^-48 packets. A subflow without an
 * RTT sample grows as in Reno. The thesis says nothing about marks: a mark is treated as a loss.
 */
#include "coupled.h"
#include "window.h"

static u64 increase(const struct subflow *s)
{
	u64 reno = reno_increase(s);
	u64 total, share;
	u32 base;

	if (!s->srtt)
		return reno; /* no RTT sample: nothing to compare by */
	base = shortest_rtt(s);
	total = total_rate(s, base);
	if (!total || is_alone(s, base, total))
		return reno;
	share = share_increase(s, base, total);
	return share < reno ? share : reno;
}

CONTROLLER(coupled_t31,
	.title = "Fully coupled increases: the thesis's line for LIA, as printed",
	.source = "THESIS Table 3.1, LIA (Coupled)",
	/* From w/y^2 = p/2 at equilibrium: U' = 2/(T y)^2 = p. */
	MAXIMISES({ .utility = UTILITY_ALPHA_FAIR, .alpha = NUMBER(2), .unit = UNIT_WINDOW, .weight = NUMBER(2),
		    .pooling = POOLED, .price = PRICE_PACKETS, .standing = STANDING_CLAIMED,
		    .source = "THESIS Table 3.1 (LIA, coupled), after Kelly and Voice [17]",
		    .caveat = "For independent losses and equal RTTs; only the best paths are used.",
		    .tolerance = 250 }), /* the mean of random cuts is below the window where they balance growth */
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	COUPLED_WINDOW);
