/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * WUTCP: the weighted sum of the subflows' TCP utilities, each subflow on its own.
 *
 * Source: THESIS (3.11)-(3.17); catalogue S17. omega is the subflow's weight:
 *
 *   slow start             w += (3/2) (1 - 3^-omega) for each packet delivered
 *     loss or mark in it   w -= (3^(1 - omega)/2) w, not below 2 packets
 *   congestion avoidance   w += omega/w for each packet delivered
 *     loss or mark in it   w  = w/2
 *
 * omega = 1 is Reno, to the last digit. Below 1 - log_3 2 = 0.369 the cut of (3.16) is more than the
 * whole window (at 1/4 it is 1.14 windows), so the window becomes 2 packets, the smallest (THESIS
 * §3.3.1). The cut is related to the pace of slow start: 1 - 3^(1 - omega)/2 is that pace minus 1/2.
 *
 * The thesis tries 1/sqrt(m), 1/m and 1/m^2 for m subflows and finds 1/m fair to TCP: the default
 * (rule = 2). Only the own subflow and those with an RTT sample count for m. omega sets a weight instead,
 * and omega_0 to omega_3 the vector of (3.11): those of the subflows by their positions in the connection,
 * omega_0 for the first. What is not given in it, and the fifth subflow and all later ones, is as for all.
 * The thesis tried only equal ones.
 *
 * Slow start is exact to 1e-5: all packets that find the window, including its fraction, below ssthresh
 * add the same amount. "In slow start" means a window below ssthresh.
 *
 * Deviations:
 *   - a timeout is handled by the host, with a window of 1 packet and a slow start, as for every
 *     controller; the thesis treats it as a loss, and so never has another slow start: in the simulator with
 *     `timeout = "as-loss"`.
 *   - a mark is treated as a loss; the thesis does not say.
 */
#include "tcp_utility.h"
#include "weights.h"

#define PARAMETERS(P) \
	P(omega, 0, 0, 1000, "1/1000", "weight of every subflow; 0: by `rule`") \
	RULE_PARAMETER(P, 2) \
	PLACE_PARAMETERS(P, "omega, or by `rule`")
DECLARE_PARAMETERS

struct wutcp {
	u64 credit; /* fraction of a packet still to add, Q48 */
};
DECLARE_STATE(struct wutcp)

/* omega of the subflow, Q48. */
static u64 wutcp_weight(const struct subflow *s)
{
	return given_weight(s, BY_PLACE(s, omega, PARAMETER(s, omega)), PARAMETER(s, rule));
}

static void wutcp_grow(struct subflow *s, const struct ack *a)
{
	u64 *credit = &state_of(s)->credit;
	u64 omega = wutcp_weight(s);
	u32 left = a->delivered;

	if (s->cwnd < s->ssthresh)
		left = scaled_slow_start(s, credit, left, slow_start_pace(omega >> 18) << 18);
	if (left)
		raise_window(s, credit, left, weighted_increase(s, omega));
}

static u32 wutcp_congestion(struct subflow *s, enum cause cause)
{
	u64 pace;

	state_of(s)->credit = 0;
	if (s->cwnd >= s->ssthresh)
		return half_window(s);
	pace = slow_start_pace(wutcp_weight(s) >> 18);
	if (pace < ONE_Q30 / 2)
		return 2;
	return max_u32((u32)(s->cwnd * (pace - ONE_Q30 / 2) >> 30), 2);
}

#define WUTCP_WEIGHTS { PLACE_WEIGHTS, .each = VALUE_OF(omega), .rule = VALUE_OF(rule) }

CONTROLLER(wutcp,
	.title = "WUTCP: weighted TCPs, with a slow start from the same utility",
	.source = "THESIS (3.16), (3.17)",
	.signals = SIGNAL_LOSS,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "reno",
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_TCP, .standing = STANDING_CLAIMED,
		    .coefficients = WUTCP_WEIGHTS,
		    .source = "THESIS (3.11)-(3.17)", .caveat = WEIGHT_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_SEPARATE, .weights = WUTCP_WEIGHTS }),
	.grow = wutcp_grow,
	.congestion = wutcp_congestion);
