/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * XMP: BOS keeps the queue short, TraSh shifts traffic between the subflows.
 *
 * Source: XMP §2-3, Algorithm 1, eq. (9); catalogue S10 and 0.1. T is the smoothed RTT, k runs
 * over the subflows of the connection, r is the own one:
 *
 *   end of a round         rate_r  = w_r/T_r, published to the siblings
 *                          delta_r = w_r / (sum_k rate_k * min_k T_k)              (eq. (9))
 *                          w_r    += delta_r, unless packets of a window that was cut are outstanding
 *   slow start             w_r += 1 for each packet delivered
 *   mark, once a round     w_r -= max(w_r/beta, 1), not below 2 packets; in slow start the
 *                          window stays and slow start ends
 *   loss                   w_r = w_r/2
 *
 * delta_r is eq. (9), T_r x_r / (min T * y), with the last round's rates for x and y; the rates
 * of the siblings may be a round old. slides_delta = 1 is the rule that KH slide 6 prints for XMP,
 * delta_r = rate_r / sum_k rate_k: without T_r / min T, so it is the same only if all RTTs are equal.
 *
 * A subflow whose path has failed ends no rounds, so in Algorithm 1 the rate of its last round stays in the
 * sum forever, and its siblings do not take over its share. forget_stalled = 1 sets it to 0 at a timeout.
 * Under this other reading they do, as XMP's Fig. 7 shows.
 *
 * With one subflow delta is 1, and XMP is BOS (bos.c).
 *
 * Deviations from Algorithm 1:
 *   - congestion avoidance needs cwnd >= ssthresh, and so does the cut; Algorithm 1's ">" would
 *     stall at equality, which Linux reaches after every cut. "ssthresh = cwnd - 1", which avoids
 *     that in the paper, is not possible in Linux.
 *   - a mark is processed before the growth of the same ACK.
 *   - the host leaves CWR before the round's step, and not after it (Linux; the slides' author's code): the
 *     round that ends with the same ACK grows.
 *   - slow start counts packets, not ACKs, as Linux does.
 *   - losses, which Algorithm 1 does not cover, halve the window (KH slides); a drop in the host's own
 *     queue counts as a mark.
 *
 * EXCEPTION to the contract: delta_r is not bounded by what was delivered. With very unequal RTTs, or
 * right after a sibling's RTT has fallen, one round may add more than a window. That is the paper's
 * rule; with equal RTTs delta_r is at most 1.
 */
#include "bos.h"

#define PARAMETERS(P) \
	P(beta, 4, 2, 64, "", "a mark cuts cwnd by cwnd / beta (XMP eq. (1): K >= BDP / (beta - 1))") \
	P(slides_delta, 0, 0, 1, "", "1: delta is the share of the total rate, as printed in the KH slides") \
	P(forget_stalled, 0, 0, 1, "", "1: a subflow has no rate from a timeout to the end of its next round")
DECLARE_PARAMETERS

DECLARE_STATE(struct bos)

/* XMP eq. (9), Q20: min_rtt is the smallest RTT of those that count in total_rate. */
static u64 xmp_delta(const struct subflow *s, u64 total_rate, u32 min_rtt)
{
	u64 packets;

	if (fix_mul_shr(total_rate, min_rtt, 63) >> 24)
		return 0; /* a rate of long ago: more packets than can be counted */
	packets = fix_mul_shr(total_rate, min_rtt, 24); /* Q40 >> 24: Q16 packets */
	return packets ? ((u64)s->cwnd << 36) / packets : BOS_ONE_PACKET;
}

/* rate_r / sum of rates, Q20: the slides' rule. */
static u64 rate_share(u64 rate, u64 total_rate)
{
	u32 top = fix_msb(total_rate), spare = top > 43 ? top - 43 : 0;

	return ((rate >> spare) << 20) / (total_rate >> spare);
}

/* What a round earns, Q20. The own word must be fresh, so that the sum is not 0. */
static u64 xmp_earned(const struct subflow *s)
{
	u64 total_rate = 0;
	u32 min_rtt = s->srtt;

	FOR_EACH_SUBFLOW(p, s) {
		total_rate += p.word;
		if (p.word && p.srtt < min_rtt)
			min_rtt = p.srtt;
	}
	if (total_rate == s->word)
		return BOS_ONE_PACKET; /* no sibling has told a rate */
	if (PARAMETER(s, slides_delta))
		return rate_share(s->word, total_rate);
	return xmp_delta(s, total_rate, min_rtt);
}

static void xmp_ack(struct subflow *s, const struct ack *a)
{
	if (!a->new_round || !s->srtt)
		return;
	s->word = ((u64)s->cwnd << 40) / s->srtt; /* packets per 1/8 us, Q40 */
	if (bos_earns(s))
		state_of(s)->pending = xmp_earned(s);
}

static void xmp_grow(struct subflow *s, const struct ack *a)
{
	bos_grow(s, state_of(s), a->delivered);
}

static u32 xmp_congestion(struct subflow *s, enum cause cause)
{
	return bos_congestion(s, state_of(s), cause, (u32)PARAMETER(s, beta));
}

static void xmp_timeout(struct subflow *s)
{
	if (PARAMETER(s, forget_stalled))
		s->word = 0;
}

CONTROLLER(xmp,
	.title = "XMP: a constant cut on marks, coupled by the increase per round",
	.source = "XMP §2-3, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.exceptions = EXCEPTION_LEAPS,
	.claims = CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "bos",
	WITH_PARAMETERS,
	MAXIMISES({ .when = "slides_delta", .utility = UTILITY_BOS, .beta = VALUE_OF(beta), .pooling = POOLED,
		    .source = "KH slides",
		    .caveat = "Without T_r/T_s of (9) the equilibrium is that of (6) only if all RTTs are equal." },
		  { .utility = UTILITY_BOS, .beta = VALUE_OF(beta), .pooling = POOLED,
		    .standing = STANDING_CLAIMED, .source = "XMP (5)-(9)",
		    .caveat = "(9) is the equilibrium of (7) and (8); that both nested loops converge to it is argued, not proved." }),
	FOLLOWS({ .when = "slides_delta", .kind = LAW_UNKNOWN },
		{ .growth = GROWTH_BY_SHORTEST, .divisor = VALUE_OF(beta), .answers = ANSWERS_ROUNDS }),
	.ack = xmp_ack,
	.grow = xmp_grow,
	.congestion = xmp_congestion,
	.timeout = xmp_timeout);
