/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * EUTCP: TCP's utility of the scaled sum of the subflows' rates.
 *
 * Source: THESIS (3.4)-(3.10), Table 3.1; catalogue S16, A6.3. T is the smoothed RTT, k runs over the
 * subflows of the connection, l is the own one, gamma_l the factor by which its rate counts:
 *
 *   slow start             w_l += gamma_l for each packet delivered
 *   congestion avoidance   w_l += 1 / (T_l sum_k w_k/T_k) for each packet delivered
 *   loss or mark           w_l -= gamma_l w_l/2, in both, not below 2 packets
 *
 * These are (3.9) and (3.10), which the thesis measured with gamma = 1, 1.05 and 1.1, the same for all
 * subflows. gamma_0 to gamma_3 are the vector: those of the subflows by their positions in the connection,
 * gamma_0 for the first. What is not given in it, and that of the fifth subflow and all later ones, is
 * gamma. gamma = 1 is Semicoupled (semicoupled.c), and with one subflow Reno. The default is 1.05, the
 * fairest and the fastest there (Tables 3.2 and 3.3). gamma below 1 would defeat its purpose, which is to
 * take back what the smallest windows of 2 packets add; from 2 on a cut takes the whole window. In the
 * vector a smaller one is allowed: there it is how little a path counts.
 *
 * (3.7) loses the exponent gamma on the way from (3.4), and with it gamma in the increase. So gamma lowers
 * the share, whereas under (3.4) it would only scale the gain. (3.8) prints -beta gamma x instead of
 * -beta gamma x_l, which (3.10) has right. exact = 1 is what follows from (3.4), (3.5), (2.12) and (2.13)
 * without that loss and without approximation. In windows, per round, with g = gamma_l,
 * y = sum_k gamma_k w_k T_l/T_k, beta = 1/2 and mu = 1 packet:
 *
 *   slow start             w_l += (3/2) g (1 - 3^-g) w_l
 *     loss or mark in it   w_l -= (3/2) g 3^-g w_l
 *   congestion avoidance   w_l += (1 + g w_l/2) (1 - (y / (2 + y))^g)
 *     loss or mark in it   w_l -= (1 + g w_l/2) (y / (2 + y))^g
 *
 * For gamma = 1 and one subflow this is Reno too.
 *
 * EXCEPTION to the contract: a packet delivered in slow start adds more than one packet: gamma, or with
 * exact = 1 up to 2.67. That is the rule, and the reason why EUTCP's growth is not bounded by Reno's.
 *
 * The increase is exact to 1e-5 for RTTs between 5 us and 1 s, or to its last digit, 2^-48 packets; with
 * exact = 1 only for y of at least 1/2, below which a factor of less than 1/2 in the vector may take the
 * smallest windows. The window after a cut is rounded down. A subflow without an RTT sample grows and is
 * cut as if there were no other.
 *
 * Deviations:
 *   - a timeout is handled by the host, with a window of 1 packet and a slow start, as for every
 *     controller; the thesis treats it as a loss, as the simulator does with `timeout = "as-loss"`.
 *   - a mark is treated as a loss; the thesis does not say.
 *   - with exact = 1 and a gamma above 1, a packet would add more than one to a window of 1 packet in
 *     congestion avoidance, where no host leaves a window; it adds one.
 */
#include "by_place.h"
#include "coupled.h"
#include "tcp_utility.h"

#define PARAMETERS(P) \
	P(gamma, 1050, 1000, 2000, "1/1000", "factor that scales a subflow's rate") \
	P(exact, 0, 0, 1, "", "1: the law derived from the utility; 0: the one that the thesis measured") \
	P(gamma_0, 0, 0, 2000, "1/1000", "gamma of the first subflow; 0: gamma") \
	P(gamma_1, 0, 0, 2000, "1/1000", "gamma of the second subflow; 0: gamma") \
	P(gamma_2, 0, 0, 2000, "1/1000", "gamma of the third subflow; 0: gamma") \
	P(gamma_3, 0, 0, 2000, "1/1000", "gamma of the fourth subflow; 0: gamma, as for all later ones")
DECLARE_PARAMETERS

struct eutcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct eutcp)

/* The subflow's gamma, thousandths. */
static u64 thousandths_of_gamma(const struct subflow *s)
{
	return BY_PLACE(s, gamma, PARAMETER(s, gamma));
}

/* The same in Q30. */
static u64 eutcp_gamma(const struct subflow *s)
{
	return ((thousandths_of_gamma(s) << 30) + 500) / 1000;
}

/*
 * sum_k (gamma_k - gamma_l) w_k base/T_k in thousandths, two's complement: by how much the scaled rates
 * exceed those of equal gammas. Every subflow publishes its own.
 */
static u64 excess_of_others(const struct subflow *s, u32 base, u32 spare)
{
	u64 own = s->word, excess = 0;

	FOR_EACH_SUBFLOW(p, s) {
		u64 other = p.word ? p.word : PARAMETER(s, gamma);

		excess += (other - own) * (p.cwnd * rtt_ratio(base, p.srtt) >> spare);
	}
	return excess;
}

/* The exact law's slow start for one packet: (3/2) gamma (1 - 3^-gamma), Q30. */
static u64 exact_pace(const struct subflow *s)
{
	u64 gamma = eutcp_gamma(s);

	return slow_start_pace(gamma) * gamma >> 30;
}

/*
 * The exact law's increase for one packet, Q48. With u = 2/(2 + y) the power is (1 - u)^gamma, and
 * 1 - (1 - u)^gamma = gamma u S(u) (power_series). So it is (gamma^2 + 2 gamma/w) / (2 + y) S(u), in which
 * large windows lose nothing. Rates are relative to the shortest RTT's, so y = (gamma total + excess)/own.
 */
static u64 exact_increase(const struct subflow *s)
{
	u64 thousandths = s->word;
	u64 own = 0, total = 0, factor, twice, sum, u, series;
	u32 base = 0, top, spare;

	if (s->srtt) {
		base = shortest_rtt(s);
		own = rtt_ratio(base, s->srtt);
		total = total_rate(s, base);
	}
	if (!total) { /* no RTT sample: alone */
		base = 0;
		own = 1ULL << RATIO_BITS;
		total = (u64)s->cwnd << RATIO_BITS;
	}
	/* gamma^2 + 2 gamma/w, Q36: at most 8. All is rounded up: alone, gamma = 1 is not below Reno. */
	factor = ((thousandths * thousandths << 36) + 999999) / 1000000;
	factor += ((2 * thousandths << 36) + 1000ULL * s->cwnd - 1) / (1000ULL * s->cwnd);
	/* 2 own + gamma total, in thousandths; 51 bits of the sum are enough, and own keeps at least one. */
	top = fix_msb(total);
	spare = top > 50 ? top - 50 : 0;
	twice = 2000 * (own >> spare);
	sum = twice + thousandths * (total >> spare) + (base ? excess_of_others(s, base, spare) : 0);
	u = fix_div_q48(twice, 0, sum, 0) >> 18;
	series = power_series(u, eutcp_gamma(s));
	/* own factor is at most 2^75, and in Q46, times 1000, at most 2^59. */
	return fix_div_q48(1000 * fix_mul_shr(fix_mul_shr(own, factor, 26), series, 30), 46, sum,
			   RATIO_BITS - spare);
}

/* The exact law's window after the cut: w - z p = w + z (1 - p) - z, z (1 - p) the increase of a round. */
static u32 exact_cut(const struct subflow *s)
{
	u64 w = s->cwnd, kept, z;

	if (s->cwnd < s->ssthresh)
		return (u32)(w * (ONE_Q30 + exact_pace(s) - 3 * eutcp_gamma(s) / 2) >> 30);
	z = ((2000 + s->word * w) << 32) / 2000; /* 1 + gamma w/2, Q32 */
	kept = (w << 32) + (w * exact_increase(s) >> 16);
	return kept > z ? (u32)((kept - z) >> 32) : 0;
}

/* Its siblings know it from the start; a subflow's place may change with those before it. */
static void publish_gamma(struct subflow *s)
{
	s->word = thousandths_of_gamma(s);
}

static void eutcp_grow(struct subflow *s, const struct ack *a)
{
	u64 *credit = &state_of(s)->credit;
	u64 exact = PARAMETER(s, exact);
	u32 left = a->delivered;

	publish_gamma(s);
	if (s->cwnd < s->ssthresh)
		left = scaled_slow_start(s, credit, left, exact ? exact_pace(s) << 18 :
					 ((s->word << 48) + 999) / 1000);
	if (left) {
		u64 increase = exact ? exact_increase(s) : semicoupled_increase(s);

		raise_window(s, credit, left, increase < 1ULL << 48 ? increase : 1ULL << 48);
	}
}

static u32 eutcp_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	publish_gamma(s);
	if (PARAMETER(s, exact))
		return max_u32(exact_cut(s), 2);
	return max_u32((u32)(s->cwnd * (2000 - s->word) / 2000), 2);
}

#define GAMMAS                                                                 \
	{ .places = { "gamma_0", "gamma_1", "gamma_2", "gamma_3" }, .each = VALUE_OF(gamma) }

CONTROLLER(eutcp,
	.title = "EUTCP: TCP's utility of the scaled sum of the subflows' rates",
	.source = "THESIS (3.9), (3.10)",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_FAST_START,
	.claims = CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ .when = "exact", .utility = UTILITY_TCP, .pooling = POOLED,
		    .coefficients = GAMMAS, .standing = STANDING_PROVED,
		    .source = "THESIS (3.4)-(3.10)",
		    .caveat = "For one binary signal per round and equal RTTs; if βx is much larger than μ, an equal γ cancels." },
		  { .utility = UTILITY_TCP, .pooling = POOLED,
		    .coefficients = GAMMAS, .standing = STANDING_CLAIMED,
		    .source = "THESIS (3.4)-(3.10)",
		    .caveat = "(3.7) drops the chain rule's exponent γ: the measured law does not have the equilibrium of (3.4)." }),
	FOLLOWS({ .when = "exact", .kind = LAW_SLIDING_TCP },
		{ .growth = GROWTH_SHARED, .cuts = GAMMAS }),
	.init = publish_gamma,
	.grow = eutcp_grow,
	.congestion = eutcp_congestion);
