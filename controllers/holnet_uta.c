/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * HOLNET-UTA: the weighted utility of TCP, steered by the host's own port and by its next hop.
 *
 * Source: THESIS §2.5, eq. (2.14), (2.21)-(2.25) and Table 2.1; catalogue S7. w is the window, each subflow
 * is a flow of its own; the step is a round trip, mu = 1 packet, beta = 1/2 and rho = 1 are Reno's, and
 * omega is the weight:
 *
 *   slow start (SSP)       w += (rho + beta) (r r_out - (1 + rho/beta)^-omega)           (eq. (2.24))
 *   avoidance (CAP)        w += (mu + beta w)/w (r r_out - (beta w/(mu + beta w))^omega) (eq. (2.25))
 *                          each for each packet delivered
 *   local congestion, SSP  w -= (rho + beta) w (1 + rho/beta)^-omega
 *   local congestion, CAP  w -= (mu + beta w) (beta w/(mu + beta w))^omega
 *   r                      r_max if x < theta, r_min if x >= Theta, else 1               (eq. (2.14))
 *
 *   next hop  local        r_out (Table 2.1)
 *   yes       yes          next_hop_r, without effect: the equations for congestion do not contain it
 *   yes       no           next_hop_r
 *   no        yes or no    1
 *
 * With omega = 1 and r r_out = 1 this is Reno: one packet per packet, 1/w per packet, and half the window.
 * If the next hop is congested, CAP loses nearly 0.9 beta w a round.
 *
 * Local congestion is that of the host's own port (LOCAL), in holnet_uta_ecn also a mark. A loss means
 * nothing: "a timeout will not trigger congestion control" (§2.5, item 3), and there is no fast retransmit:
 * the window stays, and the host retransmits. Table 2.1's r_in and r_max belong to the switches.
 *
 * Corrections to the thesis (catalogue S7): in eq. (2.24) (rho + beta) x multiplies the whole difference,
 * where a bracket is missing in print; its second line is the general form, of which the print has the
 * case rho = beta.
 *
 * EXCEPTION to the contract: `grow` may lower the window if r r_out says so, but not below one packet.
 *
 * Deviations, with the reasons:
 *   - the thesis does not say how long a host waits between two updates: here a round trip, spread over
 *     the packets of a window. A switch that reports congestion for less time takes less.
 *   - it does not say what ends SSP: here the threshold, as in Reno, and an r r_out below 1, after the
 *     ACK that finds it. Without a loss the first threshold would never be reached, and a window that
 *     doubles whenever the next hop is silent would oscillate forever. Such a CAP lasts until local
 *     congestion or a timeout, even if the window falls below the threshold.
 *   - after a timeout the host restarts from one packet, up to the former window (not with `timeout = "as-loss"`).
 *   - a delivered packet adds or takes at most one packet, slow start's pace; r_max or an omega above 1
 *     could demand more.
 *   - without an RTT sample r is 1.
 * An increase is exact to 1e-6; parts of a cut below 1/100 packet may be lost.
 */
#include "holnet.h"

#define PARAMETERS(P)                                                          \
	P(weight, 1000, 1, 10000, "1/1000", "omega: weight of the flow's utility") \
	P(next_hop_r, 100, 0, 999, "1/1000", "r_out while the next hop is congested") \
	COS_PARAMETERS(P)
DECLARE_PARAMETERS

#define ONE_Q58 (1ULL << 58)

/* z (r - e) with z = factor/(2w) and e = (1 + excess)^-omega. */
struct law {
	u32 factor; /* SSP: 2 (rho + beta) w, CAP: 2 (mu + beta w); at most 3 * 2^20 */
	u64 e;      /* Q62 */
};

static u64 is_slow(struct subflow *s)
{
	return !state_of(s)->lowered && s->cwnd < s->ssthresh;
}

static void law_of(const struct subflow *s, u64 slow, struct law *law)
{
	/* rho/beta = 2, and mu/(beta w) = 2/w: at most 2, whose logarithm times 10 is below 16. */
	u64 omega = (PARAMETER(s, weight) << 32) / 1000;

	law->factor = slow ? 3 * s->cwnd : s->cwnd + 2;
	law->e = fix_power_1p_neg(2 * FIX_LOG_ONE / (slow ? 1 : s->cwnd), omega);
}

/* r r_out, Q58. */
static u64 r_of(const struct subflow *s)
{
	u64 r = 1000;

	if (s->srtt)
		r = cos_r((u64)s->cwnd * s->mss * BITS_PER_TIME, s->srtt, PARAMETER(s, min_rate),
			  PARAMETER(s, max_rate), PARAMETER(s, r_max), PARAMETER(s, r_min));
	r *= s->next_hop ? PARAMETER(s, next_hop_r) : 1000;
	return ((r << 38) / 1000000) << 20;
}

/* What `packets` add or take. e less 2^-26: else 1 packet a packet would be a little less. */
static void step(struct subflow *s, u64 slow, u32 packets)
{
	u64 r = r_of(s), z;
	struct law law;

	law_of(s, slow, &law);
	z = (((u64)law.factor << 41) / s->cwnd) << 10; /* Q52: factor is below 2^22 */
	holnet_step(s, packets, z, r, slow ? law.e - (law.e >> 26) : law.e, 1);
	state_of(s)->lowered |= r < ONE_Q58;
}

static void holnet_uta_grow(struct subflow *s, const struct ack *a)
{
	u32 left = a->delivered;

	if (is_slow(s)) {
		step(s, 1, left);
		left = 0;
		if (s->cwnd > s->ssthresh) { /* what is above the threshold belongs to CAP */
			left = s->cwnd - s->ssthresh;
			s->cwnd = s->ssthresh;
		}
	}
	if (left)
		step(s, 0, left);
}

static u32 holnet_uta_congestion(struct subflow *s, enum cause cause)
{
	struct law law;
	u64 by;

	state_of(s)->credit = 0;
	if (cause == LOSS_EVENT)
		return s->cwnd;
	law_of(s, is_slow(s), &law);
	state_of(s)->lowered = 0;
	by = fix_mul_shr(law.factor, law.e, 55); /* factor e / 2, in 1/256 packet */
	/* Rounded up to whole packets; but not for what rounding alone has added to one. */
	by = (by + 253) >> 8;
	return by < s->cwnd ? s->cwnd - (u32)by : 1;
}

static void holnet_uta_timeout(struct subflow *s)
{
	state_of(s)->lowered = 0;
}

CONTROLLER(holnet_uta,
	.title = "HOLNET-UTA: weighted TCP, steered by the next hop",
	.source = "THESIS §2.5, eq. (2.24), (2.25)",
	.signals = SIGNAL_LOSS | SIGNAL_NEXT_HOP,
	.exceptions = EXCEPTION_LOWERS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .weight = VALUE_OF(weight), HOLNET_BOUNDS,
		    .standing = STANDING_PROVED, .source = "THESIS (2.21)-(2.25)", .caveat = SLIDING_CAVEAT }),
	FOLLOWS({ .kind = LAW_SLIDING_TCP, HOLNET_FACTORS }),
	.grow = holnet_uta_grow,
	.congestion = holnet_uta_congestion,
	.timeout = holnet_uta_timeout);

CONTROLLER(holnet_uta_ecn,
	.title = "HOLNET-UTA: weighted TCP, steered by the next hop and by ECN",
	.source = "THESIS §2.5, eq. (2.24), (2.25)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_NEXT_HOP,
	.exceptions = EXCEPTION_LOWERS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .weight = VALUE_OF(weight), HOLNET_BOUNDS,
		    .standing = STANDING_PROVED, .source = "THESIS (2.21)-(2.25)", .caveat = SLIDING_CAVEAT }),
	FOLLOWS({ .kind = LAW_SLIDING_TCP, HOLNET_FACTORS }),
	.grow = holnet_uta_grow,
	.congestion = holnet_uta_congestion,
	.timeout = holnet_uta_timeout);
