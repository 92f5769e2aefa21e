/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * HOLNET CC and CC-CoS: a sliding-mode rate controller for alpha-fair utilities with weights.
 *
 * Source: THESIS eq. (2.12)-(2.14), (2.19) and Table 2.2; catalogue S6. x is the subflow's rate, 8 mss w/T
 * in bit/s, T the smoothed RTT; each subflow is a flow of its own:
 *
 *   no congestion          dx/dt = gamma x^alpha (r - e^(-W x^-alpha))
 *   congestion             dx/dt = -gamma x^alpha e^(-W x^-alpha)
 *   r (CoS; else 1)        r_max if x < theta, r_min if x >= Theta, else 1              (eq. (2.14))
 *
 * Flows that see the same congestion settle where W_i x_i^-alpha is the same: their rates have the ratio
 * (W_i/W_j)^(1/alpha). Weights of 2:1 with alpha = 0.5 aim at 80:20, of 3.63:1 with alpha = 0.75 at
 * 84.8:15.2. With losses, a flow with a larger rate senses more congestion, because a lost packet is more
 * likely to be its own (the thesis measured 3.61 for 4 and 5.24 for 5.59). x is the rate at the top of the
 * sawtooth; the smaller flow's cut is a larger part of its window, so its mean is further below.
 *
 * Congestion is a loss, found by duplicate ACKs or by timeout; in the _ecn controllers also a mark. A drop
 * in the host's own queue counts as either.
 *
 * The classes of service (THESIS §2.3.2) are settings of theta (min_rate) and Theta (max_rate):
 *
 *   NRE, elastic           theta = 0, Theta = 0 (none)         file transfer: CC is this class
 *   RRA, rate adaptive     theta = X^RRA, Theta = 0 (none)     video whose lowest encoding is X^RRA
 *   RDA, delay adaptive    theta = X^RDA, Theta = 0 (none)     X^RDA: the inflection of its utility
 *   HRT, hard real-time    theta = Theta                       a fixed rate, neither more nor less
 *
 * The thesis gives neither gamma, nor the unit of x, nor how windows follow from rates. Decided here:
 *   - a step is a round trip: what dx/dt adds in T without congestion is spread over the window's
 *     packets, what it takes in T with congestion is taken at once, once a window. So dw = dx/dt T^2 / (8
 *     mss); in packets
 *
 *       each packet delivered  w += g u^(alpha-1) (r - e^-t)    u = x/X,  t = weight price u^-alpha
 *       congestion             w -= w g u^(alpha-1) e^-t        (to the nearest packet, at least one)
 *
 *   - X (`reference`) is a rate for which gamma and W are chosen: gamma = g X^(1-alpha)/T and W = weight
 *     price X^alpha. This is eq. (2.19) for any X; x and X are in bit/s or in any other unit. A gamma
 *     proportional to 1/T has the same effect in a round trip of any length.
 *   - gamma and price are AIMD's at x = X: g = 1/2 halves the window, price = 1/10 adds one packet a
 *     round to a window of 20, where AIMD's price is 2/w. Above X the cuts are smaller and congestion
 *     is rarer. A common factor of the weights cancels in the rates; it sets how often congestion occurs.
 *     Read literally, W = 2 at 80 Mbit/s and x in bit/s mean one congestion in 4500 round trips (alpha =
 *     0.5), W = 3.63 at 85 Mbit/s one in 240 000 (0.75): minutes to hours to converge, where the thesis's
 *     figures take seconds.
 *   - r_min, which is not given for CoS, is Table 2.1's r_min.
 *
 * A window in slow start doubles every round (RFC 5681), unless x has reached Theta. Well below X the cut
 * would take the whole window, so it stops at 2 packets.
 *
 * EXCEPTION to the contract (CoS): `grow` may lower the window; eq. (2.14) does so if x >= Theta.
 *
 * Deviations:
 *   - after a timeout the host restarts from one packet; the threshold of that slow start is the cut that
 *     three duplicate ACKs would have made. With `timeout = "as-loss"` (simulator) that is the window.
 *   - a delivered packet adds or takes at most one packet, slow start's pace; r_max could demand more.
 *   - without an RTT sample there is no rate, so growth and cut are Reno's.
 * An increase is exact to 1e-6.
 */
#include "holnet.h"

#define CC_PARAMETERS(P)                                                       \
	P(alpha, 500, 250, 950, "1/1000", "the utility is x^(1 - alpha) / (1 - alpha)") \
	P(weight, 1000, 1, 1000000, "1/1000", "weight of the flow's utility")  \
	P(reference, 10000, 1, 1000000000, "kbit/s", "X: the rate at which gamma and price apply") \
	P(gamma, 500, 1, 1000, "1/1000", "a cut at rate X takes nearly this part of the window") \
	P(price, 100, 1, 100000, "1/1000", "w x^-alpha at rate X with weight 1: congestion per round trip")
#define PARAMETERS(P) CC_PARAMETERS(P) COS_PARAMETERS(P)
DECLARE_PARAMETERS

/* CC has no classes of service: its table ends where theirs begin. */
#define CC_PARAMETER_COUNT parameter_min_rate

#define LOG2_1000 718110438253742724ULL            /* Q56 */
#define LOG2_1E6_OVER_LOG2_E 1398119243864914414ULL /* log2(10^6 / log2 e), Q56 */

/* x's numerator over srtt, kbit/s; below 2^53 for packets below 2^16 bytes. */
static u64 amount(const struct subflow *s)
{
	return (u64)s->cwnd * s->mss * BITS_PER_TIME;
}

/*
 * f u^-exponent, at most 2^bits, in Q(62 - bits), for f = 2^(log_f - log_unit): computed as one power of 2.
 * log_u64 is log2(2^64 u), below 2^7 in Q56, so that no logarithm is negative; exponent is in Q32.
 */
static u64 power_of_rate(u64 log_u64, u64 exponent, u64 bits, u64 log_unit, u64 log_f)
{
	u64 up = fix_mul_shr(log_u64, exponent, 32) + bits * FIX_LOG_ONE + log_unit;
	u64 down = fix_mul_shr(64 * FIX_LOG_ONE, exponent, 32) + log_f;

	return fix_exp2_neg(up > down ? up - down : 0);
}

struct law {
	u64 z; /* g u^(alpha-1), Q52; beyond 2^10 it counts as 2^10 */
	u64 e; /* e^-t, Q62 */
};

static void law_of(const struct subflow *s, struct law *law)
{
	/* X srtt is below 2^57, and u above 2^-41 and below 2^50. */
	u64 log_u64 = 64 * FIX_LOG_ONE + fix_log2(amount(s)) - fix_log2(PARAMETER(s, reference) * s->srtt);
	u64 alpha = (PARAMETER(s, alpha) << 32) / 1000;

	law->z = power_of_rate(log_u64, (1ULL << 32) - alpha, 10, LOG2_1000, fix_log2(PARAMETER(s, gamma)));
	/* t log2 e, Q56: from 64 on e^-t is 0. */
	law->e = fix_exp2_neg(power_of_rate(log_u64, alpha, 6, LOG2_1E6_OVER_LOG2_E,
					    fix_log2(PARAMETER(s, weight) * PARAMETER(s, price))));
}

/* r: 1/1000. */
static void cc_grow(struct subflow *s, const struct ack *a, u64 r)
{
	struct holnet *h = state_of(s);
	struct law law;
	u32 left;

	h->lowered |= r < 1000;
	left = h->lowered ? a->delivered : slow_start(s, a->delivered);
	if (!left)
		return;
	if (!s->srtt) {
		raise_window(s, &h->credit, left, reno_increase(s));
		return;
	}
	law_of(s, &law);
	holnet_step(s, left, law.z, thousandths_q58(r), law.e, 2);
}

static void holnet_cc_grow(struct subflow *s, const struct ack *a)
{
	cc_grow(s, a, 1000);
}

static void holnet_cc_cos_grow(struct subflow *s, const struct ack *a)
{
	cc_grow(s, a, s->srtt ? cos_r(amount(s), s->srtt, PARAMETER(s, min_rate), PARAMETER(s, max_rate),
				      PARAMETER(s, r_max), PARAMETER(s, r_min)) : 1000);
}

static u32 holnet_cc_congestion(struct subflow *s, enum cause cause)
{
	u64 whole = 1ULL << 51, part;
	struct law law;

	state_of(s)->lowered = 0;
	if (!s->srtt)
		return half_window(s);
	law_of(s, &law);
	part = fix_mul_shr(law.z, law.e, 63); /* of the window, Q51 */
	part = fix_mul_shr(s->cwnd, part < whole ? part : whole, 50); /* half packets */
	return max_u32(s->cwnd - max_u32((u32)((part + 1) / 2), 1), 2);
}

/* At 200 us and rates near X windows have 2 to 8 packets, and steps of whole packets are coarse. */
#define CC_TOLERANCE 450

/* weight price (x/X)^-alpha is the congestion per round trip at rate x. */
#define HOLNET_CC_UTILITY                                                      \
	.utility = UTILITY_ALPHA_FAIR, .alpha = VALUE_OF(alpha), .reference = VALUE_OF(reference), \
	.weight = VALUE_OF(weight), .scale = VALUE_OF(price), .standing = STANDING_PROVED, \
	.source = "THESIS (2.5), (2.7), (2.19)", .caveat = SLIDING_CAVEAT, .tolerance = CC_TOLERANCE

CONTROLLER(holnet_cc,
	.title = "HOLNET CC: weighted alpha-fair rates",
	.source = "THESIS eq. (2.19)",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.parameters = parameter_table,
	.parameter_count = CC_PARAMETER_COUNT,
	MAXIMISES({ HOLNET_CC_UTILITY }),
	FOLLOWS({ .kind = LAW_SLIDING_ALPHA_FAIR, .gain = VALUE_OF(gamma),
		  .tolerance = CC_TOLERANCE }),
	.grow = holnet_cc_grow,
	.congestion = holnet_cc_congestion);

CONTROLLER(holnet_cc_ecn,
	.title = "HOLNET CC: weighted alpha-fair rates, congestion signalled by ECN",
	.source = "THESIS eq. (2.19)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN,
	.min_cwnd = 2,
	.parameters = parameter_table,
	.parameter_count = CC_PARAMETER_COUNT,
	MAXIMISES({ HOLNET_CC_UTILITY }),
	FOLLOWS({ .kind = LAW_SLIDING_ALPHA_FAIR, .gain = VALUE_OF(gamma),
		  .tolerance = CC_TOLERANCE }),
	.grow = holnet_cc_grow,
	.congestion = holnet_cc_congestion);

CONTROLLER(holnet_cc_cos,
	.title = "HOLNET CC-CoS: weighted alpha-fair rates between two bounds",
	.source = "THESIS eq. (2.14), (2.19)",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_LOWERS,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ HOLNET_CC_UTILITY, HOLNET_BOUNDS }),
	FOLLOWS({ .kind = LAW_SLIDING_ALPHA_FAIR, .gain = VALUE_OF(gamma), HOLNET_FACTORS,
		  .tolerance = CC_TOLERANCE }),
	.grow = holnet_cc_cos_grow,
	.congestion = holnet_cc_congestion);

CONTROLLER(holnet_cc_cos_ecn,
	.title = "HOLNET CC-CoS: weighted alpha-fair rates between two bounds, congestion signalled by ECN",
	.source = "THESIS eq. (2.14), (2.19)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN,
	.exceptions = EXCEPTION_LOWERS,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ HOLNET_CC_UTILITY, HOLNET_BOUNDS }),
	FOLLOWS({ .kind = LAW_SLIDING_ALPHA_FAIR, .gain = VALUE_OF(gamma), HOLNET_FACTORS,
		  .tolerance = CC_TOLERANCE }),
	.grow = holnet_cc_cos_grow,
	.congestion = holnet_cc_congestion);
