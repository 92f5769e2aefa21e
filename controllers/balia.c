/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * BALIA, the Balanced Linked Adaptation: a compromise between friendliness and responsiveness.
 *
 * Source: Peng et al., IEEE/ACM ToN 2016, as in THESIS Table 3.1; catalogue S14. T is the smoothed
 * RTT, x = w/T, k runs over the subflows of the connection, r is the own one:
 *
 *   rate ratio             a    = max_k(x_k) / x_r
 *   congestion avoidance   w_r += (w_r/T_r^2) / (sum_k w_k/T_k)^2 * (1 + a)/2 * (4 + a)/5
 *                          for each packet delivered
 *   loss or mark           w_r -= w_r/2 * min(a, 3/2), not below 1 packet (THESIS §3.3.1; alone 2)
 *
 * With a inserted, the increase is (x_r + X) (4 x_r + X) / (10 w_r (sum_k x_k)^2), X = max_k x_k, and
 * is computed in this form. It is never above 1/w_r. It is exact to 1e-5 for RTTs between 5 us and 1 s,
 * or to its last digit, 2^-48 packets. The window after a cut is exact, and rounded down to whole
 * packets, as in Reno. Slow start is each subflow's own. A single subflow behaves like Reno, as in the
 * old kernel, including the floor.
 *
 * integer_cut = 1 cuts as the old MPTCP kernel did: it truncated a to a whole number, so that below
 * a = 2 every cut is half a window, and it halved in whole packets first (mptcp_balia.c: md is
 * (w >> 1) min(a, 3/2)). That was an integer division, not the paper's rule; its increase did not
 * truncate a.
 *
 * Deviations from the old MPTCP kernel:
 *   - packets are counted, not calls, and the increase is recomputed at every ACK; the kernel did
 *     this after each whole packet of growth, in whole ACKs.
 *   - a subflow without an RTT sample grows and cuts as in Reno.
 */
#include "coupled.h"

#define PARAMETERS(P) \
	P(integer_cut, 0, 0, 1, "", "1: truncate the rate ratio in the cut, as the old MPTCP kernel did")
DECLARE_PARAMETERS

struct balia {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct balia)

/* The increase for one packet, Q48 packets. */
static u64 balia_increase(const struct subflow *s)
{
	u64 reno = reno_increase(s);
	u64 total = 0, best = 0, own, product, increase;
	u32 base, top, spare;

	if (!s->srtt)
		return reno; /* no RTT sample: nothing to compare by */
	base = shortest_rtt(s);
	{
		FOR_EACH_SUBFLOW(p, s) {
			u64 rate = p.cwnd * rtt_ratio(base, p.srtt); /* x_k base, Q36 */

			total += rate;
			if (rate > best)
				best = rate;
		}
	}
	if (!total || is_alone(s, base, total))
		return reno; /* the siblings could not be read, or there is none */
	own = s->cwnd * rtt_ratio(base, s->srtt);
	/* In 30 bits of the sum: best is at least 1/64 of it, so the factors keep 24 bits or more, and
	   their product, at most 10 * 2^60, fits. */
	top = fix_msb(total);
	spare = top > 29 ? top - 29 : 0;
	product = ((own + best) >> spare) * ((4 * own + best) >> spare);
	increase = fix_div_square_q48(product / (10ULL * s->cwnd), 0, total >> spare, 0);
	return increase < reno ? increase : reno;
}

static void balia_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, balia_increase(s));
}

static u32 balia_congestion(struct subflow *s, enum cause cause)
{
	/* a w_r = max_k(w_k T_r/T_k), rounded down, and up */
	u64 aw = s->cwnd, above = s->cwnd, cut;
	u32 n = ZERO;

	state_of(s)->credit = 0;
	{
		FOR_EACH_SUBFLOW(p, s) {
			u64 term = (u64)p.cwnd * s->srtt, up = (term + p.srtt - 1) / p.srtt;

			n++;
			term /= p.srtt;
			aw = term > aw ? term : aw;
			above = up > above ? up : above;
		}
	}
	if (n <= 1 || !s->srtt)
		return s->cwnd > 1 ? half_window(s) : 1;
	if (PARAMETER(s, integer_cut)) {
		cut = s->cwnd / 2;
		if (aw >= 2ULL * s->cwnd)
			cut = 3 * cut / 2;
	} else {
		u64 most = (3ULL * s->cwnd + 3) / 4;

		cut = (above + 1) / 2;
		cut = cut < most ? cut : most;
	}
	return max_u32(s->cwnd - (u32)cut, 1);
}

CONTROLLER(balia,
	.title = "BALIA: Multipath TCP's balanced linked adaptation",
	.source = "Peng et al., ToN 2016; THESIS Table 3.1",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 1,
	.single = "reno",
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(POOLED, "THESIS §3.2, of Peng et al. (ToN 2016)")),
	FOLLOWS({ .growth = GROWTH_BALANCED, .cutting = CUT_BALANCED }),
	.grow = balia_grow,
	.congestion = balia_congestion);
