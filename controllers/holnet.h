/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Common code of HOLNET's host controllers: the form of THESIS eq. (2.12), z [r - e] without congestion
 * and -z e with it, and the classes of service, eq. (2.14).
 */
#ifndef TRESSE_HOLNET_H
#define TRESSE_HOLNET_H

#include "controller.h"

/* Private state, the same in all of them. */
struct holnet {
	u64 credit;   /* fraction of a packet still to add, Q48 */
	u64 lowered;  /* an r below 1 has ended slow start, which would undo what it takes below ssthresh;
	                 until the next congestion */
};
DECLARE_STATE(struct holnet)

/* Rates are in kbit/s: cwnd * mss * 8 bit in srtt / 8 us are cwnd * mss * BITS_PER_TIME / srtt kbit/s. */
#define BITS_PER_TIME 64000

/* The least rate theta, the greatest rate Theta and r outside of them. */
#define COS_PARAMETERS(P)                                                      \
	P(min_rate, 0, 0, 1000000000, "kbit/s", "theta: r is r_max below this rate; 0: none") \
	P(max_rate, 0, 0, 1000000000, "kbit/s", "Theta: r is r_min from this rate on; 0: none") \
	P(r_max, 3000, 1000, 15000, "1/1000", "r below theta")        \
	P(r_min, 100, 0, 999, "1/1000", "r from Theta on")

/* The same for MAXIMISES and FOLLOWS. */
#define HOLNET_BOUNDS .min_rate = VALUE_OF(min_rate), .max_rate = VALUE_OF(max_rate)
#define HOLNET_FACTORS .r_max = VALUE_OF(r_max), .r_min = VALUE_OF(r_min)

#define SLIDING_CAVEAT \
	"Proved for rates in sliding mode; windows and feedback delays are not covered."

/*
 * r, 1/1000, by eq. (2.14), for the rate `amount` / `time` in kbit/s: as products, exact, and with nothing
 * to divide. amount is below 2^63, time below 2^27 and the bounds below 2^30.
 */
static inline u64 cos_r(u64 amount, u64 time, u64 min_rate, u64 max_rate, u64 r_max, u64 r_min)
{
	if (amount < min_rate * time)
		return r_max;
	return max_rate && amount >= max_rate * time ? r_min : 1000;
}

/* A quantity in 1/1000, below 16000, in Q58; exact for 1000. */
static inline u64 thousandths_q58(u64 v)
{
	return ((v << 48) / 1000) << 10;
}

/*
 * An ACK of `delivered` packets without congestion: each is worth z (r - e), at most one packet up or down,
 * and down to `least` packets of window.
 * z is in Q52 and below 2^10, r in Q58 and below 2^4, e in Q62 and at most 1: the product, Q110, is below
 * 2^124, and in Q48 below 2^62.
 */
static inline void holnet_step(struct subflow *s, u32 delivered, u64 z, u64 r, u64 e, u32 least)
{
	u64 *credit = &state_of(s)->credit;
	u64 change, one = 1ULL << 48;

	e >>= FIX_POWER_BITS - 58;
	if (r < e) {
		change = fix_mul_shr(z, e - r, 62);
		lower_window(s, credit, delivered, change < one ? change : one, least);
	} else {
		change = fix_mul_shr(z, r - e, 62);
		raise_window(s, credit, delivered, change < one ? change : one);
	}
}

#endif
