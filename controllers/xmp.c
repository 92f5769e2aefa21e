/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * XMP: BOS keeps the queue short, TraSh shifts traffic between the subflows.
 *
 * Source: XMP §2-3, Algorithm 1, eq. (9); catalogue S10 and 0.1. T is the smoothed RTT, k runs
 * over the subflows of the connection, r is the own one:
 *
 *   end of a round         rate_r  = w_r/T_r, published to the siblings
 *                          delta_r = w_r / (sum_k rate_k * min_k T_k)              (eq. (9))
 *                          w_r    += delta_r, unless the window was cut in that round
 *   slow start             w_r += 1 for each packet delivered
 *   mark, once a round     w_r -= max(w_r/beta, 1), not below 2 packets; in slow start the
 *                          window stays and slow start ends
 *   loss                   w_r = w_r/2
 *
 * delta_r is eq. (9), T_r x_r / (min T * y), with the last round's rates for x and y; the rates
 * of the siblings may be a round old.
 *
 * Deviations from Algorithm 1:
 *   - congestion avoidance needs cwnd >= ssthresh, and so does the cut; Algorithm 1's ">" would
 *     stall at equality, which Linux reaches after every cut. "ssthresh = cwnd - 1", which avoids
 *     that in the paper, cannot be said to Linux.
 *   - a mark is processed before the growth of the same ACK.
 *   - slow start counts packets, not ACKs, as Linux does.
 *   - losses, on which Algorithm 1 is silent, halve the window (KH slides); a drop in the host's own
 *     queue counts as a mark.
 *
 * EXCEPTION to the contract: delta_r is not bounded by what was delivered. With very unequal RTTs, or
 * right after a sibling's RTT has fallen, one round may add more than a window. That is the paper's
 * rule; with equal RTTs delta_r is at most 1.
 */
#include "controller.h"

#define PARAMETERS(P) \
	P(beta, 4, 2, 64, "", "a mark cuts cwnd by cwnd / beta (XMP eq. (1): K >= BDP / (beta - 1))")
DECLARE_PARAMETERS

struct xmp {
	u64 adder;   /* fraction of a packet still to add, Q20 */
	u64 pending; /* delta of a finished round that `grow` has not added yet, Q20 */
};
DECLARE_STATE(struct xmp)

/* XMP eq. (9), Q20. The own word must be fresh, so that the sum is not 0. */
static u64 xmp_delta(const struct subflow *s)
{
	u64 total_rate = 0, packets;
	u32 min_rtt = s->srtt;

	FOR_EACH_SUBFLOW(p, s) {
		total_rate += p.word;
		if (p.word && p.srtt < min_rtt)
			min_rtt = p.srtt;
	}
	if (fix_mul_shr(total_rate, min_rtt, 63) >> 24)
		return 0; /* a rate of long ago: more packets than can be counted */
	packets = fix_mul_shr(total_rate, min_rtt, 24); /* Q40 >> 24: Q16 packets */
	return packets ? ((u64)s->cwnd << 36) / packets : 1 << 20;
}

static void xmp_ack(struct subflow *s, const struct ack *a)
{
	struct xmp *x = state_of(s);

	if (!a->new_round || !s->srtt)
		return;
	s->word = ((u64)s->cwnd << 40) / s->srtt; /* packets per 1/8 us, Q40 */
	if (s->state != CWR && s->state != RECOVERY && s->cwnd >= s->ssthresh)
		x->pending = xmp_delta(s);
}

static void xmp_grow(struct subflow *s, const struct ack *a)
{
	struct xmp *x = state_of(s);

	slow_start(s, a->delivered);
	x->adder += x->pending;
	x->pending = 0;
	s->cwnd += (u32)(x->adder >> 20);
	x->adder &= (1 << 20) - 1;
}

static u32 xmp_congestion(struct subflow *s, enum cause cause)
{
	struct xmp *x = state_of(s);

	x->pending = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	if (s->cwnd < s->ssthresh)
		return s->cwnd;
	return max_u32(s->cwnd - max_u32(s->cwnd / (u32)PARAMETER(s, beta), 1), 2);
}

CONTROLLER(xmp,
	.title = "XMP: a constant cut on marks, coupled by the increase of a round",
	.source = "XMP §2-3, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.exceptions = EXCEPTION_LEAPS,
	.claims = CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	.ack = xmp_ack,
	.grow = xmp_grow,
	.congestion = xmp_congestion);
