/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Fixed-point arithmetic that gives the same bits with gcc and with clang's BPF target.
 *
 * BPF has no floats, no 128-bit product and no signed division; so everything here is u64,
 * and a wide product is made of 32-bit halves on both hosts.
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
 * num / den in Q48, for num in Qa and den in Qb, never below it, and above it by less than 2^-26 of it
 * and 2^-48. num and den must not be 0, and the quotient must be below 2^15.
 */
static inline u64 fix_div_q48(u64 num, u32 a, u64 den, u32 b)
{
	/* A dividend of 64 bits and a divisor of at most 36: the quotient has at least 28. */
	u32 top = 63 - fix_msb(num), bottom = fix_msb(den);
	u32 spare = bottom > 35 ? bottom - 35 : 0;
	u64 quotient = (num << top) / (den >> spare); /* num/den * 2^(top + spare) */
	u32 up = 48 + b, down = a + top + spare;

	if (up >= down)
		return (quotient + 1) << (up - down);
	return (down - up < 64 ? quotient >> (down - up) : 0) + 1;
}

/* The square root of v, which must be below 2^62, rounded down. */
static inline u32 fix_sqrt(u64 v)
{
	u64 root = 0;

	for (u32 bit = 1u << 30; bit; bit >>= 1) {
		u64 next = root + bit;

		root = fix_select(fix_less(v, next * next), root, next);
	}
	return (u32)root;
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

/*
 * Logarithms and exponents, to base 2, are in Q56 (FIX_LOG_BITS), below 2^7; powers, at most 1, are in Q62
 * (FIX_POWER_BITS). Polynomials, not tables: no loop, and no branch in a logarithm.
 *
 * Natural logarithms are not needed: e^-t = 2^-(t log2 e), with log2 e = FIX_LOG2_E.
 */
#define FIX_LOG_BITS 56
#define FIX_LOG_ONE (1ULL << FIX_LOG_BITS)
#define FIX_POWER_BITS 62
#define FIX_POWER_ONE (1ULL << FIX_POWER_BITS)
#define FIX_LOG2_E 103957133576908769ULL /* log2 e, Q56 */

/*
 * log2(1 + u), Q56, for u in Q56 below 1, with a relative error below 2^-28: u times the polynomial of
 * degree 11 that comes nearest to log2(1 + u)/u (2^-32, Chebyshev), in Q31. The factor u stands outside,
 * so that a small u loses nothing; each of Horner's sums is positive, so nothing is signed.
 */
static inline u64 fix_log2_mantissa(u64 u)
{
	u64 x = u >> (FIX_LOG_BITS - 32), p = 27652985 - (3880715 * x >> 32);

	p = 92325738 - (p * x >> 32);
	p = 196742391 - (p * x >> 32);
	p = 312350848 - (p * x >> 32);
	p = 415261089 - (p * x >> 32);
	p = 509487427 - (p * x >> 32);
	p = 618503402 - (p * x >> 32);
	p = 774429133 - (p * x >> 32);
	p = 1032715517 - (p * x >> 32);
	p = 1549081885 - (p * x >> 32);
	p = 3098164009 - (p * x >> 32);
	return fix_mul_shr(u, p, 31);
}

/* log2(v), Q56, for a whole number v from 1, with an absolute error below 2^-28; exact for powers of 2. */
static inline u64 fix_log2(u64 v)
{
	u32 top = fix_msb(v);

	/* The leading 1 is shifted out; its 63 followers become a fraction in Q56. */
	return ((u64)top << FIX_LOG_BITS) + fix_log2_mantissa((v << (63 - top) << 1) >> (64 - FIX_LOG_BITS));
}

/* log2(1 + e), Q56, for e in Q56 below 127, with a relative error below 2^-28, or of the last digit. */
static inline u64 fix_log2_1p(u64 e)
{
	u64 v = e + FIX_LOG_ONE;
	u32 whole = fix_msb(v) - FIX_LOG_BITS;

	return ((u64)whole << FIX_LOG_BITS) + fix_log2_mantissa((v >> whole) - FIX_LOG_ONE);
}

/*
 * 2^-t, Q62, for any t in Q56. 2^-t has a relative error below 2^-29, or of the last digit, and
 * so has 1 - 2^-t, as FIX_POWER_ONE - fix_exp2_neg(t): 1 - 2^-f, for the fraction f of t, is f times
 * the polynomial of degree 6 that comes nearest to (1 - 2^-f)/f (2^-32), in Q32.
 */
static inline u64 fix_exp2_neg(u64 t)
{
	u64 f = t & (FIX_LOG_ONE - 1), x = f >> (FIX_LOG_BITS - 32);
	u64 p = 639488 - (48550 * x >> 32);

	p = 5712048 - (p * x >> 32);
	p = 41304489 - (p * x >> 32);
	p = 238387495 - (p * x >> 32);
	p = 1031764939 - (p * x >> 32);
	p = 2977044471 - (p * x >> 32);
	/* 2^-64 and less is nothing, and a shift by so many bits has no meaning in C. */
	p = FIX_POWER_ONE - fix_mul_shr(f, p, 32 + FIX_LOG_BITS - FIX_POWER_BITS);
	return t >> (FIX_LOG_BITS + 6) ? 0 : p >> (t >> FIX_LOG_BITS);
}

/*
 * (1 + e)^-n, Q62, for e in Q56 below 127 and n in Q32; n log2(1 + e) must be below 256. The exponent has
 * a relative error below 2^-28, or of the last digit times n: so 1 - (1 + e)^-n keeps its digits for small e.
 */
static inline u64 fix_power_1p_neg(u64 e, u64 n)
{
	return fix_exp2_neg(fix_mul_shr(fix_log2_1p(e), n, 32));
}

#endif
