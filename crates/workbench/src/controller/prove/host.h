/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The third host of a controller: Frama-C's Eva, which goes through all values at once, as ranges. Included before
 * the controller's file.
 *
 * Of fix.h it has what the comments there promise, as conditions: each "must" is a `requires`, which Eva must prove
 * at every call, and each result an `ensures`, which it may use. That fix.h keeps its promises is tested
 * (crates/controllers/tests/it/fix.rs), not proved.
 */
#include "__fc_builtin.h"

#define fix_less fix_less_compiled
#define fix_select fix_select_compiled
#define fix_msb fix_msb_compiled
#define fix_mul_shr fix_mul_shr_compiled
#define fix_div_q48 fix_div_q48_compiled
#define fix_div_square_q48 fix_div_square_q48_compiled
#define fix_sqrt fix_sqrt_compiled
#define fix_log2 fix_log2_compiled
#define fix_log2_1p fix_log2_1p_compiled
#define fix_exp2_neg fix_exp2_neg_compiled
#define fix_power_1p_neg fix_power_1p_neg_compiled
#define peer_at peer_at_compiled
#define slow_start_to slow_start_to_compiled
#define slow_start slow_start_compiled
#define raise_window raise_window_compiled
#define lower_window lower_window_compiled
#define reno_increase reno_increase_compiled
#include "controller.h"
#undef fix_less
#undef fix_select
#undef fix_msb
#undef fix_mul_shr
#undef fix_div_q48
#undef fix_div_square_q48
#undef fix_sqrt
#undef fix_log2
#undef fix_log2_1p
#undef fix_exp2_neg
#undef fix_power_1p_neg
#undef peer_at
#undef slow_start_to
#undef slow_start
#undef raise_window
#undef lower_window
#undef reno_increase
#undef FOR_EACH_SUBFLOW

/* ---- fix.h ---- */

/*@ requires overflow_less: a < 0x8000000000000000 && b < 0x8000000000000000; */
static u64 fix_less(u64 a, u64 b)
{
	return a < b;
}

static u64 fix_select(u64 chosen, u64 yes, u64 no)
{
	return chosen ? yes : no;
}

/*@ requires division_msb: v != 0; */
static u32 fix_msb(u64 v)
{
	u32 at = 0;

	//@ loop unroll 64;
	while (v >>= 1)
		at++;
	return at;
}

/*@ requires overflow_product: (a * b) / (1 << shift) <= 0xffffffffffffffff;
    requires shift_product: shift <= 63;
    assigns \result \from a, b, shift;
    ensures \result == (a * b) / (1 << shift); */
u64 fix_mul_shr(u64 a, u64 b, u32 shift);

/*@ requires division_quotient: num != 0 && den != 0;
    requires overflow_quotient: (num * (1 << b)) / (den * (1 << a)) < 32768;
    assigns \result \from num, a, den, b;
    ensures (num * (1 << (b + 48))) / (den * (1 << a)) <= \result;
    ensures \result <= (num * (1 << (b + 48))) / (den * (1 << a)) + (num * (1 << (b + 22))) / (den * (1 << a)) + 3; */
u64 fix_div_q48(u64 num, u32 a, u64 den, u32 b);

/*@ requires division_quotient: num != 0 && den != 0;
    requires overflow_quotient: (num * (1 << (2 * b))) / (den * den * (1 << a)) < 32768;
    assigns \result \from num, a, den, b;
    ensures (num * (1 << (2 * b + 48))) / (den * den * (1 << a)) -
	    (num * (1 << (2 * b + 21))) / (den * den * (1 << a)) - 3 <= \result;
    ensures \result <= (num * (1 << (2 * b + 48))) / (den * den * (1 << a)) +
	    (num * (1 << (2 * b + 21))) / (den * den * (1 << a)) + 3; */
u64 fix_div_square_q48(u64 num, u32 a, u64 den, u32 b);

/*@ requires overflow_root: v < 0x4000000000000000;
    assigns \result \from v;
    ensures \result * \result <= v;
    ensures v >= 1 ==> \result >= 1;
    ensures \result <= 0x7fffffff; */
u32 fix_sqrt(u64 v);

/*@ assigns \result \from whole;
    ensures whole * 0x100000000000000 <= \result <= (whole + 1) * 0x100000000000000; */
u64 log2_between(u32 whole);

/*@ requires division_logarithm: v != 0; */
static u64 fix_log2(u64 v)
{
	return log2_between(fix_msb(v));
}

/*@ requires overflow_logarithm: e < 127 * 0x100000000000000; */
static u64 fix_log2_1p(u64 e)
{
	return log2_between(fix_msb(e + FIX_LOG_ONE) - FIX_LOG_BITS);
}

/*@ assigns \result \from t;
    ensures 0 <= \result <= 0x4000000000000000 / (1 << (t / 0x100000000000000)); */
u64 fix_exp2_neg(u64 t);

static u64 fix_power_1p_neg(u64 e, u64 n)
{
	return fix_exp2_neg(fix_mul_shr(fix_log2_1p(e), n, 32));
}

/* ---- The siblings: 63, each known or not, with any window and RTT, and any word that a hook has written. ---- */

static u64 published;

static u32 peer_at(const struct subflow *s, u32 i, struct peer *p)
{
	if (i == 0) {
		p->cwnd = s->cwnd;
		p->srtt = s->srtt ? s->srtt : SRTT_LEAST;
		p->word = s->word;
		return s->srtt != 0;
	}
	p->cwnd = Frama_C_unsigned_int_interval(1, CWND_LIMIT - 1);
	p->srtt = Frama_C_unsigned_int_interval(SRTT_LEAST, SRTT_LIMIT - 1);
	p->word = published;
	return Frama_C_interval(0, 1);
}

#define FOR_EACH_SUBFLOW(p, s)                                                 \
	struct peer p;                                                         \
	for (u32 p##_i = 0; p##_i < MAX_SUBFLOWS; p##_i++)                     \
		if (peer_at(s, p##_i, &p))

/* ---- The window. Each packet delivered may raise it once: `budget` are those that have not. ---- */

/* The file's `a->delivered`: Eva relates variables to each other, not fields. */
static u32 delivered_now;
static u32 budget;

/* Eva does not see that a quotient that is rounded up is at most what was divided. */
/*@ requires division_window: s->cwnd != 0;
    assigns \result \from s->cwnd;
    ensures 0x1000000000000 / s->cwnd <= \result <= 0x1000000000000 / s->cwnd + 1;
    ensures \result <= 0x1000000000000; */
u64 reno_increase(const struct subflow *s);

/*@ requires growth_once: \false; */
static void counted_twice(void)
{
}

/*@ requires growth_lowers: \false; */
static void lowers(void)
{
}

static u32 slow_start_model(struct subflow *s, u32 threshold, u32 delivered)
{
	u32 cwnd = s->cwnd, room = cwnd < threshold ? threshold - cwnd : 0, left;

	if (!room)
		return delivered;
	left = delivered > room ? delivered - room : 0;
	s->cwnd = Frama_C_unsigned_int_interval(cwnd + 1, 2 * CWND_LIMIT);
	budget = left;
	return left;
}

#define slow_start_to(s, threshold, packets)                                   \
	({                                                                     \
		u32 told = (packets);                                          \
		if (told > budget)                                             \
			counted_twice();                                       \
		slow_start_model(s, threshold, told);                          \
	})
#define slow_start(s, packets) slow_start_to(s, (s)->ssthresh, packets)

/* Adds `packets` at most: what `credit` has is less than a packet, and each packet earns at most one. */
/*@ requires growth_increase: increase <= 0x1000000000000;
    requires growth_credit: *credit < 0x1000000000000; */
static void raise_window_model(struct subflow *s, u64 *credit, u32 delivered, u64 increase)
{
	u64 n = delivered < (1u << 14) ? delivered : 1u << 14;

	budget = 0;
	*credit += n * increase;
	s->cwnd += (u32)(*credit >> 48);
	*credit &= (1ULL << 48) - 1;
}

#define raise_window(s, credit, packets, increase)                             \
	do {                                                                   \
		u32 told = (packets);                                          \
		if (told > budget)                                             \
			counted_twice();                                       \
		raise_window_model(s, credit, told, increase);                 \
	} while (0)

/*@ requires overflow_decrease: decrease <= 0x1000000000000;
    requires overflow_credit: *credit < 0x1000000000000; */
static void lower_window_model(struct subflow *s, u64 *credit, u32 delivered, u64 decrease, u32 least)
{
	u64 count = delivered < (1u << 14) ? delivered : 1u << 14;
	u64 owed = count * decrease, have = *credit;
	u64 packets = owed > have ? (owed - have + (1ULL << 48) - 1) >> 48 : 0;
	u32 cwnd = s->cwnd;

	if (packets + least > cwnd) {
		s->cwnd = cwnd < least ? cwnd : least;
		*credit = 0;
		return;
	}
	s->cwnd = Frama_C_unsigned_int_interval(cwnd < least ? cwnd : least, cwnd);
	*credit = Frama_C_unsigned_long_long_interval(0, (1ULL << 48) - 1);
}

#define lower_window(s, credit, packets, decrease, least)                      \
	do {                                                                   \
		lowers();                                                      \
		lower_window_model(s, credit, packets, decrease, least);       \
	} while (0)
