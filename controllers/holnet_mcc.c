/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * HOLNET MCC and MCC-CoS: AIMD for a flow over several paths, from the utility eps log(x).
 *
 * Source: THESIS eq. (2.14), (2.20) and Table 2.2; catalogue S22. x_l = w_l/T_l is a subflow's rate, x their
 * sum over the connection, T_l the smoothed RTT; eps = 2 packets/T_l; the step is a round trip:
 *
 *   no congestion          w_l += 1/2 (r - e^(-eps/x)) for each packet delivered
 *   congestion             w_l -= w_l/2 e^(-eps/x), rounded down to whole packets of window
 *   r (CoS; else 1)        r_max if x < theta, r_min if x >= Theta, else 1              (eq. (2.14))
 *
 * For x >> eps this is w_l += 1/(T_l x) per packet and w_l/2: with one path AIMD, and with several paths
 * the increase of Semicoupled. The thesis chooses gamma and eps so that it degenerates to AIMD, and does
 * not print them: gamma is 1/2 per round, and T_l the subflow's own RTT, as in the thesis's chapter 3.
 *
 * Slow start is each subflow's own, unless x has reached Theta. Congestion is a loss, found by duplicate
 * ACKs or by timeout; in the _ecn controllers also a mark. A drop in the host's own queue counts as
 * either. The classes of service, and r_min, are as in holnet_cc.c, with the rates of the whole
 * connection; the siblings' packets are assumed to be as large as the own ones.
 *
 * EXCEPTION to the contract (CoS): `grow` may lower the window; eq. (2.14) does so if x >= Theta.
 *
 * Deviations:
 *   - after a timeout the host restarts from one packet, unless it has `timeout = "as-loss"` (simulator).
 *   - a delivered packet adds or takes at most one packet, slow start's pace; r_max could demand more.
 *   - a subflow without an RTT sample grows and cuts as in Reno.
 * An increase is exact to 1e-5 for RTTs between 5 us and 1 s.
 */
#include "coupled.h"
#include "holnet.h"

#define PARAMETERS(P) COS_PARAMETERS(P)
DECLARE_PARAMETERS

#define LOG2_TWO_LOG2_E 110159226680498970ULL /* log2(2 log2 e), Q56 */
#define HALF_Q52 (1ULL << 51)

/* The rates relative to the shortest RTT. */
struct rates {
	u64 total; /* sum_k w_k base/T_k, Q36: at most 2^62, at least 2^36 */
	u32 base;
};

/* The own RTT must be known. */
static void rates_of(const struct subflow *s, struct rates *rates)
{
	u32 base = shortest_rtt(s);
	u64 total = 0;

	FOR_EACH_SUBFLOW(p, s)
		total += p.cwnd * rtt_ratio(base, p.srtt);
	/* No room for the siblings, in the kernel: as if alone. */
	rates->total = total ? total : s->cwnd * rtt_ratio(base, s->srtt);
	rates->base = base;
}

/*
 * e^(-eps/x), Q62; eps/x = 2 (base/T_l) / total. Its binary logarithm, at most 2 log2 e, is a power of 2
 * itself, in Q56 with 6 bits above the point.
 */
static u64 power_of(const struct subflow *s, const struct rates *rates)
{
	u64 log_share = fix_log2(rates->total) - fix_log2(rtt_ratio(rates->base, s->srtt));

	return fix_exp2_neg(fix_exp2_neg(log_share + 6 * FIX_LOG_ONE - LOG2_TWO_LOG2_E));
}

/* r, 1/1000, for the connection's rate, total mss BITS_PER_TIME / base kbit/s. */
static u64 class_of(const struct subflow *s, const struct rates *rates)
{
	u64 amount = fix_mul_shr(rates->total, (u64)s->mss * BITS_PER_TIME, RATIO_BITS); /* below 2^59 */

	return cos_r(amount, rates->base, PARAMETER(s, min_rate), PARAMETER(s, max_rate),
		     PARAMETER(s, r_max), PARAMETER(s, r_min));
}

static void without_rtt(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static void holnet_mcc_grow(struct subflow *s, const struct ack *a)
{
	struct rates rates;
	u32 left;

	if (!s->srtt) {
		without_rtt(s, a);
		return;
	}
	left = slow_start(s, a->delivered);
	if (!left)
		return;
	rates_of(s, &rates);
	holnet_step(s, left, HALF_Q52, thousandths_q58(1000), power_of(s, &rates), 2);
}

static void holnet_mcc_cos_grow(struct subflow *s, const struct ack *a)
{
	struct holnet *h = state_of(s);
	struct rates rates;
	u32 left;
	u64 r;

	if (!s->srtt) {
		without_rtt(s, a);
		return;
	}
	rates_of(s, &rates);
	r = class_of(s, &rates);
	h->lowered |= r < 1000;
	left = h->lowered ? a->delivered : slow_start(s, a->delivered);
	if (!left)
		return;
	holnet_step(s, left, HALF_Q52, thousandths_q58(r), power_of(s, &rates), 2);
}

static u32 holnet_mcc_congestion(struct subflow *s, enum cause cause)
{
	struct rates rates;

	state_of(s)->credit = 0;
	state_of(s)->lowered = 0;
	if (!s->srtt)
		return half_window(s);
	rates_of(s, &rates);
	/* e^(-eps/x) is below 1: half of it, of a window, is less than the window by a packet or more. */
	return max_u32(s->cwnd - (u32)fix_mul_shr(s->cwnd, power_of(s, &rates), 63) - 1, 2);
}

/* A cut is rounded up to whole packets: at windows of 15 that is up to a fourteenth of the window more. */
#define MCC_TOLERANCE 250

/* epsilon log y, epsilon two packets an RTT. */
#define HOLNET_MCC_UTILITY                                                     \
	.utility = UTILITY_ALPHA_FAIR, .unit = UNIT_WINDOW, .weight = NUMBER(2), .pooling = POOLED, \
	.standing = STANDING_PROVED, .source = "THESIS §2.4.2, (2.20)",        \
	.caveat = "Proved for rates in sliding mode and equal RTTs, because each subflow's ε is two packets in " \
		  "its own RTT; windows and feedback delays are not covered.",           \
	.tolerance = MCC_TOLERANCE

CONTROLLER(holnet_mcc,
	.title = "HOLNET MCC: AIMD over several paths",
	.source = "THESIS eq. (2.20)",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	MAXIMISES({ HOLNET_MCC_UTILITY }),
	FOLLOWS({ .kind = LAW_SLIDING_LOG }),
	.grow = holnet_mcc_grow,
	.congestion = holnet_mcc_congestion);

CONTROLLER(holnet_mcc_ecn,
	.title = "HOLNET MCC: AIMD over several paths, congestion signalled by ECN",
	.source = "THESIS eq. (2.20)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	MAXIMISES({ HOLNET_MCC_UTILITY }),
	FOLLOWS({ .kind = LAW_SLIDING_LOG }),
	.grow = holnet_mcc_grow,
	.congestion = holnet_mcc_congestion);

CONTROLLER(holnet_mcc_cos,
	.title = "HOLNET MCC-CoS: AIMD over several paths, total between two bounds",
	.source = "THESIS eq. (2.14), (2.20)",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_LOWERS,
	.coupled = 1,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ HOLNET_MCC_UTILITY, HOLNET_BOUNDS }),
	FOLLOWS({ .kind = LAW_SLIDING_LOG }),
	.grow = holnet_mcc_cos_grow,
	.congestion = holnet_mcc_congestion);

CONTROLLER(holnet_mcc_cos_ecn,
	.title = "HOLNET MCC-CoS: AIMD over several paths, total between two bounds, with ECN",
	.source = "THESIS eq. (2.14), (2.20)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN,
	.exceptions = EXCEPTION_LOWERS,
	.coupled = 1,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ HOLNET_MCC_UTILITY, HOLNET_BOUNDS }),
	FOLLOWS({ .kind = LAW_SLIDING_LOG }),
	.grow = holnet_mcc_cos_grow,
	.congestion = holnet_mcc_congestion);
