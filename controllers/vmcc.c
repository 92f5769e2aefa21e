/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * vMCC: LIA's increase and DCTCP's cut, multipath congestion control for virtual machines.
 *
 * Source: VMCC §V.B, Algorithm 1, Fig. 8b; catalogue S24. T is the smoothed RTT, k runs over the
 * subflows of the connection, r is the own one:
 *
 *   congestion avoidance   w_r += min( max_k(w_k/T_k^2) / (sum_k w_k/T_k)^2 , 1/w_r )
 *                          for each packet delivered (RFC 6356 §3, as in lia.c)
 *   each round             alpha = (1 - g) alpha + g F,  F = marked / delivered in that round
 *   marked window          w_r = w_r (1 - alpha/2), once a round (RFC 8257 §3.3, as in dctcp.c)
 *   loss                   w_r = w_r/2
 *
 * The paper's text and Fig. 8b have "a DCTCP-like window decrease", and so has this: once a round.
 * It is DCM (dcm.c) except for the floor, which is 2 packets as in DCTCP and LIA, where DCM's author has
 * 1. g and alpha's start are DCTCP's; the paper gives none. With one subflow it is DCTCP, except that
 * LIA's quotient may bring a packet one ACK later, and a round with it.
 *
 * as_printed = 1 follows Algorithm 1 to the letter instead: each marked ACK multiplies the window by
 * (1 - alpha/2) and then moves alpha towards the F of the last whole round; alpha does not move
 * otherwise. Ten marked ACKs at alpha = 1/2 leave 6 % of a window. A host requests one cut per window, so
 * the factors of all marked ACKs since the last cut are multiplied, and that cut applies their product:
 * those that come while a window is being reduced wait for the next cut. A loss, which cuts on its own,
 * discards those that wait. Algorithm 1's first "update alpha_r", without a formula, is taken to mean the
 * one after the cut, which has a formula.
 *
 * Algorithm 1 raises the window at every unmarked ACK. The paper's implementation is a Linux module, and
 * Linux does not request growth in the round after a cut; this is the same here, and a host may do
 * otherwise (`grow_in_cwr` in [transport]).
 *
 * Algorithm 2, which closes subflows that share a path, is not congestion control: it belongs to a path
 * manager and is not here, nor is the mark counter that triggers it. The ACK that triggers the
 * detection in Algorithm 1 does not cut; here it does.
 *
 * A drop in the host's own queue counts as a mark, with as_printed as one factor. The round in which an
 * ACK counts, and the effect of a timeout, are as in dctcp.c.
 */
#include "coupled.h"
#include "dctcp_alpha.h"

#define PARAMETERS(P)                                                          \
	DCTCP_ALPHA_PARAMETERS(P)                                              \
	P(as_printed, 0, 0, 1, "", "1: a factor for each marked ACK, as printed in Algorithm 1")
DECLARE_PARAMETERS

struct vmcc {
	u64 credit; /* fraction of a packet still to add, Q48 */
	u64 lost;   /* as_printed: 1 - the product of the factors since the last cut, Q30 */
	struct dctcp_alpha estimate;
	u32 fraction; /* as_printed: F of the last whole round, Q20 */
};
DECLARE_STATE(struct vmcc)

#define ALL (1ULL << 30)

static void vmcc_init(struct subflow *s)
{
	dctcp_alpha_init(&state_of(s)->estimate, PARAMETER(s, alpha_start));
}

/* Algorithm 1 at one ACK: the estimate's counts serve for F, its alpha moves here. */
static void printed_ack(struct vmcc *v, const struct ack *a, u64 g_shift)
{
	struct dctcp_alpha *d = &v->estimate;

	if (a->new_round && d->delivered) {
		u32 marked = d->marked < d->delivered ? d->marked : d->delivered;

		v->fraction = (u32)(((u64)marked << 20) / d->delivered);
		d->delivered = 0;
		d->marked = 0;
	}
	d->delivered += a->delivered;
	d->marked += a->marked;
	if (!a->marked)
		return;
	v->lost += ((ALL - v->lost) * d->alpha) >> 21; /* kept (1 - alpha/2) is kept */
	d->alpha = (u32)(d->alpha + (v->fraction >> g_shift) - (d->alpha >> g_shift));
}

static void vmcc_ack(struct subflow *s, const struct ack *a)
{
	struct vmcc *v = state_of(s);

	if (PARAMETER(s, as_printed))
		printed_ack(v, a, PARAMETER(s, g_shift));
	else
		dctcp_alpha_ack(&v->estimate, a, PARAMETER(s, g_shift));
}

static void vmcc_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, lia_increase(s));
}

static u32 vmcc_congestion(struct subflow *s, enum cause cause)
{
	struct vmcc *v = state_of(s);
	u64 lost = v->lost;

	v->credit = 0;
	v->lost = 0;
	if (cause == LOSS_EVENT)
		return half_window(s);
	if (PARAMETER(s, as_printed) && cause == MARK)
		return max_u32(s->cwnd - (u32)((s->cwnd * lost) >> 30), 2);
	return max_u32(dctcp_alpha_cut(&v->estimate, s->cwnd), 2);
}

static void vmcc_timeout(struct subflow *s)
{
	dctcp_alpha_timeout(&state_of(s)->estimate);
}

CONTROLLER(vmcc,
	.title = "vMCC: LIA's increase and DCTCP's cut, for virtual machines",
	.source = "VMCC §V.B, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(POOLED, "VMCC Theorem 1 is about fairness")),
	FOLLOWS({ .when = "as_printed", .kind = LAW_UNKNOWN },
		{ .growth = GROWTH_LINKED, .cutting = CUT_MARKED, .gain = HALVINGS(g_shift),
		  .answers = ANSWERS_ROUNDS,
		  .tolerance = 400 }), /* cuts of less than a packet are rounded */
	.init = vmcc_init,
	.ack = vmcc_ack,
	.grow = vmcc_grow,
	.congestion = vmcc_congestion,
	.timeout = vmcc_timeout);
