/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCTCP: a cut in proportion to the fraction of marked packets.
 *
 * Source: RFC 8257 §3.3; KH slide 6; catalogue S3.
 *
 *   each round             alpha = (1 - g) alpha + g F,  F = marked / delivered in that round
 *   marked window          w = w (1 - alpha/2), once a round
 *   congestion avoidance   w += 1/w for each packet delivered
 *   loss                   w = w/2
 *
 * alpha starts at 1, so that the first mark halves the window (RFC 8257 §3.3), g = 1/16 and the
 * floor is 2 packets, as in Linux. The cut is rounded down to whole packets, so a mark with
 * alpha w < 2 cuts nothing (Linux too). A drop in the host's own queue counts as a mark.
 *
 * Deviations from RFC 8257:
 *   - the ACK that begins a round counts in that round, not in the one that it ends.
 *   - a timeout drops the counts of the round that it ends.
 */
#include "controller.h"

#define PARAMETERS(P)                                                          \
	P(g_shift, 4, 1, 10, "bit", "weight of the newest round: g = 2^-g_shift") \
	P(alpha_start, 1024, 0, 1024, "1/1024", "alpha before the first round ends")
DECLARE_PARAMETERS

#define ONE (1ULL << 20) /* alpha = 1 */

struct dctcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
	u32 alpha;  /* Q20 */
	u32 delivered, marked; /* in this round */
};
DECLARE_STATE(struct dctcp)

static void dctcp_init(struct subflow *s)
{
	state_of(s)->alpha = PARAMETER(s, alpha_start) << 10;
}

static void dctcp_ack(struct subflow *s, const struct ack *a)
{
	struct dctcp *d = state_of(s);

	if (a->new_round && d->delivered) {
		u32 marked = d->marked < d->delivered ? d->marked : d->delivered;
		u64 fraction = marked * ONE / d->delivered;

		/* Both terms at once: a shift of each alone would never let alpha reach 0. */
		d->alpha = (u32)(d->alpha + (fraction >> PARAMETER(s, g_shift))
				 - (d->alpha >> PARAMETER(s, g_shift)));
		if (d->alpha < (1u << PARAMETER(s, g_shift)) && !marked)
			d->alpha = 0;
		d->delivered = 0;
		d->marked = 0;
	}
	d->delivered += a->delivered;
	d->marked += a->marked;
}

static void dctcp_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static u32 dctcp_congestion(struct subflow *s, enum cause cause)
{
	struct dctcp *d = state_of(s);

	d->credit = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	return max_u32(s->cwnd - (u32)(((u64)s->cwnd * d->alpha) >> 21), 2);
}

static void dctcp_timeout(struct subflow *s)
{
	struct dctcp *d = state_of(s);

	d->delivered = 0;
	d->marked = 0;
}

CONTROLLER(dctcp,
	.title = "DCTCP: a cut in proportion to the fraction of marked packets",
	.source = "RFC 8257 §3.3, KH slide 6",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	.init = dctcp_init,
	.ack = dctcp_ack,
	.grow = dctcp_grow,
	.congestion = dctcp_congestion,
	.timeout = dctcp_timeout);
