/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCM: LIA's increase and DCTCP's cut, data-centre multipath TCP.
 *
 * Source: KH slides 6 and 8; catalogue S23. T is the smoothed RTT, k runs over the subflows of the
 * connection, r is the own one:
 *
 *   congestion avoidance   w_r += min( max_k(w_k/T_k^2) / (sum_k w_k/T_k)^2 , 1/w_r )
 *                          for each packet delivered (RFC 6356 §3, as in lia.c)
 *   each round             alpha = (1 - g) alpha + g F,  F = marked / delivered in that round
 *   marked window          w_r = w_r (1 - alpha/2), once a round (RFC 8257 §3.3, as in dctcp.c)
 *   loss                   w_r = w_r/2
 *
 * The slides call it DCMPTCP, and it is declared under that name too. Its author has since called it DCM,
 * because Dong et al. (ICDCS 2018) use the older name for another scheme: a scheduler with help from the
 * top-of-rack switch, which is not implemented here. Each subflow has its own alpha and slow start.
 *
 * The slides leave two values open, which come from the author's public simulator: g = 1/16, and a
 * floor of 1 packet, where DCTCP and LIA have 2.
 *
 * Deviations from the author's simulator:
 *   - alpha starts at 1, so that the first mark halves the window (RFC 8257 §3.3); there it starts
 *     at 0, as here with alpha_start = 0.
 *   - F counts packets, not ACKs, and no window grows while it is being reduced: as in dctcp.c.
 *   - a loss halves down to 1 packet, the same floor as for a mark; there it stops at 2.
 *   - windows are whole packets: a mark with alpha w < 2 cuts nothing, and forgets the fraction of a
 *     packet that the window has grown by; there they are in bytes, as here with exact = 1.
 * The rounding of the cut, and the round in which an ACK counts, are as in dctcp.c. A drop in the host's
 * own queue counts as a mark.
 */
#include "coupled.h"
#include "dctcp_alpha.h"

#define PARAMETERS(P)                                                          \
	DCTCP_ALPHA_PARAMETERS(P)                                              \
	P(exact, 0, 0, 1, "", "1: cuts are not rounded to whole packets, as if windows were in bytes")
DECLARE_PARAMETERS

struct dcm {
	u64 credit; /* fraction of a packet still to add, Q48 */
	struct dctcp_alpha estimate;
};
DECLARE_STATE(struct dcm)

static void dcm_init(struct subflow *s)
{
	dctcp_alpha_init(&state_of(s)->estimate, PARAMETER(s, alpha_start));
}

static void dcm_ack(struct subflow *s, const struct ack *a)
{
	dctcp_alpha_ack(&state_of(s)->estimate, a, PARAMETER(s, g_shift));
}

static void dcm_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, lia_increase(s));
}

static u32 dcm_congestion(struct subflow *s, enum cause cause)
{
	struct dcm *d = state_of(s);

	if (cause != LOSS_EVENT && PARAMETER(s, exact))
		return dctcp_alpha_cut_exactly(&d->estimate, s->cwnd, &d->credit, 1);
	d->credit = 0;
	return max_u32(cause == LOSS_EVENT ? s->cwnd / 2 : dctcp_alpha_cut(&d->estimate, s->cwnd), 1);
}

static void dcm_timeout(struct subflow *s)
{
	dctcp_alpha_timeout(&state_of(s)->estimate);
}

CONTROLLER(dcm,
	.title = "DCM: LIA's increase and DCTCP's cut",
	.source = "KH slides 6 and 8",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(POOLED, "KH slides")),
	FOLLOWS({ .growth = GROWTH_LINKED, .cutting = CUT_MARKED, .gain = HALVINGS(g_shift),
		  .answers = ANSWERS_ROUNDS,
		  .tolerance = 400 }), /* cuts of less than a packet are rounded */
	.init = dcm_init,
	.ack = dcm_ack,
	.grow = dcm_grow,
	.congestion = dcm_congestion,
	.timeout = dcm_timeout);

ALIAS(dcmptcp, dcm,
	.title = "DCM under the name that its slides give it; not the DCMPTCP of Dong et al.",
	.source = "KH slides 6 and 8");
