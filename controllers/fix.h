/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Fixed-point arithmetic that gives the same bits from gcc and from clang's BPF target.
 *
 * BPF has no floats, no 128-bit product and no signed division; so everything here is u64,
 * and a wide product is made of 32-bit halves on both sides.
 *
 * "Qn" means n fractional bits: the integer v stands for v / 2^n.
 */
#ifndef TRESSE_FIX_H
#define TRESSE_FIX_H

/*
 * 0, unknown to the kernel's verifier: where a count starts that a loop raises and a branch tests
 * later. From a plain 0 the verifier would follow every count that is possible, one by one.
 */
#ifdef TRESSE_BPF
static volatile u32 unknown_zero;
#define ZERO unknown_zero
#else
#define ZERO 0
#endif

/*
 * 1 if a < b, else 0, for a and b below 2^63. Computed, not branched on: the kernel's verifier follows
 * both ways of every branch, and in a loop the ways multiply.
 */
static inline u64 fix_less(u64 a, u64 b)
{
	u64 less = (a - b) >> 63;

	/* Else the compiler sees through it, and makes the branch. */
	__asm__("" : "+r"(less));
	return less;
}

/* yes if chosen is 1, no if it is 0. */
static inline u64 fix_select(u64 chosen, u64 yes, u64 no)
{
	return no ^ ((yes ^ no) & (0 - chosen));
}

/*
 * Position of the highest set bit, 0..63. v must not be 0. All bits below the highest are set, then
 * counted, 2, 4, 8 and 64 at a time: without a branch, which the verifier would follow both ways.
 */
static inline u32 fix_msb(u64 v)
{
	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	v -= (v >> 1) & 0x5555555555555555;
	v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (u32)((v * 0x0101010101010101) >> 56) - 1;
}

/* (a * b) >> shift, exact, for shift in 0..63. The result must fit 64 bits. */
static inline u64 fix_mul_shr(u64 a, u64 b, u32 shift)
{
	u64 a1 = a >> 32, a0 = (u32)a, b1 = b >> 32, b0 = (u32)b;
	u64 low = a0 * b0;
	u64 mid = a1 * b0 + (low >> 32);
	u64 mid2 = a0 * b1 + (u32)mid;
	u64 hi = a1 * b1 + (mid >> 32) + (mid2 >> 32);
	u64 lo = (mid2 << 32) | (u32)low;

	return shift ? (hi << (64 - shift)) | (lo >> shift) : lo;
}

/*
 * num / den^2 in Q48, for num in Qa and den in Qb, with a relative error below 2^-27.
 * num and den must not be 0, and the quotient must be below 2^15.
 */
static inline u64 fix_div_square_q48(u64 num, u32 a, u64 den, u32 b)
{
	/* Mantissas of 32 bits: num = n * 2^f, den = d * 2^e, so n / d^2 keeps at least 28 bits. */
	u32 top = fix_msb(num), bottom = fix_msb(den);
	u64 n = top >= 31 ? num >> (top - 31) : num << (31 - top);
	u64 d = bottom >= 31 ? den >> (bottom - 31) : den << (31 - bottom);
	u64 quotient = (((n << 31) / d) << 30) / d; /* (n / d^2) * 2^61, below 2^32 */
	/*
	 * value = n / d^2 * 2^((top - 31) - a - 2 (bottom - 31) + 2 b); in Q48 that is
	 * quotient * 2^(18 + top - a - 2 bottom + 2 b): up and down are kept apart, unsigned.
	 */
	u32 up = 18 + top + 2 * b, down = a + 2 * bottom;

	if (up >= down)
		return quotient << (up - down);
	return down - up < 64 ? quotient >> (down - up) : 0;
}

#endif
