/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCTCP's estimate of congestion and the cut that follows from it (RFC 8257 §3.3; see dctcp.c), for
 * every controller that cuts as DCTCP does.
 */
#ifndef TRESSE_DCTCP_ALPHA_H
#define TRESSE_DCTCP_ALPHA_H

#include "controller.h"

#define DCTCP_ALPHA_PARAMETERS(P)                                              \
	P(g_shift, 4, 1, 10, "bit", "weight of the newest round: g = 2^-g_shift") \
	P(alpha_start, 1024, 0, 1024, "1/1024", "alpha before the first round ends")

struct dctcp_alpha {
	u32 alpha; /* Q20 */
	u32 delivered, marked; /* in this round */
};

/* start: alpha_start. */
static inline void dctcp_alpha_init(struct dctcp_alpha *d, u64 start)
{
	d->alpha = (u32)(start << 10);
}

/* Every ACK: alpha = (1 - g) alpha + g F at the end of a round, then the round's counts. */
static inline void dctcp_alpha_ack(struct dctcp_alpha *d, const struct ack *a, u64 g_shift)
{
	if (a->new_round && d->delivered) {
		u32 marked = d->marked < d->delivered ? d->marked : d->delivered;
		u64 fraction = ((u64)marked << 20) / d->delivered;

		/* Both terms at once: a shift of each alone would never let alpha reach 0. */
		d->alpha = (u32)(d->alpha + (fraction >> g_shift) - (d->alpha >> g_shift));
		if (d->alpha < (1u << g_shift) && !marked)
			d->alpha = 0;
		d->delivered = 0;
		d->marked = 0;
	}
	d->delivered += a->delivered;
	d->marked += a->marked;
}

/* w (1 - alpha/2), the cut rounded down to whole packets. */
static inline u32 dctcp_alpha_cut(const struct dctcp_alpha *d, u32 cwnd)
{
	return cwnd - (u32)(((u64)cwnd * d->alpha) >> 21);
}

/*
 * The same without rounding, as where windows are counted in bytes: w has the fraction that is in *credit (Q48),
 * and what is left of it stays there. Not below `least` packets.
 */
static inline u32 dctcp_alpha_cut_exactly(const struct dctcp_alpha *d, u32 cwnd, u64 *credit, u32 least)
{
	u64 window = ((u64)cwnd << 20) + (*credit >> 28); /* Q20 */

	window -= fix_mul_shr(window, d->alpha, 21);
	*credit = 0;
	if (window >> 20 < least)
		return least;
	*credit = (window & ((1ULL << 20) - 1)) << 28;
	return (u32)(window >> 20);
}

/* A timeout: what was counted belongs to packets that are given up. */
static inline void dctcp_alpha_timeout(struct dctcp_alpha *d)
{
	d->delivered = 0;
	d->marked = 0;
}

#endif
