/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * PowerTCP: a window that follows power, the product of what enters a port and what is in it.
 *
 * Source: Addanki, Michel and Schmid, NSDI 2022, Algorithm 1, as copied into the comments of its authors'
 * kernel module (inet-tub/powertcp-linux); checked with their ns-3 code (inet-tub/ns3-datacenter,
 * UpdateRatePower). tau is the base RTT, b a port's rate, dt the time between two packets at a port:
 *
 *   each hop               current lambda = dq/dt + (bytes sent since)/dt,  voltage nu = q + b tau,
 *                          power over base power = lambda nu / (b^2 tau)
 *   smoothed               P = ((tau - dt) P + dt P')/tau, with P' and dt of the hop with the largest power
 *   window                 w = gamma (w_old/P + beta) + (1 - gamma) w;  w_old is w as it was when the
 *                          acknowledged packet was sent
 *   always                 the pace is w/tau; w starts with line_rate tau; beta = line_rate tau / flows
 *
 * w is at most line_rate tau, P starts at 1, and a hop whose current is negative counts nothing, as in its
 * authors' ns-3 code. flows is 10 as in their module; their ns-3 code has 150 Mbit/s for beta, 1/167 of its
 * 25 Gbit/s.
 *
 * Deviations:
 *   - w_old is the window at the end of the last window of packets, as in their ns-3 code, which keeps one
 *     per round. A window ends when more packets were reported than were in flight when it began.
 *   - five hops at most, compared by their positions (telemetry.h), with queues in units of 16 bytes. For
 *     schemes whose packets stay on one path: otherwise, values of different ports are compared.
 *   - losses leave the window as it is. A NACK counts by what its header was told on the way (hpcc.c).
 *   - tau is at most 2 s, P at most 8191.
 */
#include "spray.h"
#include "telemetry.h"

#define PARAMETERS(P) \
	P(gamma, 900, 1, 1000, "1/1000", "weight of the newest window") \
	P(flows, 10, 1, 100000, "flow", "N: beta is 1/N of the BDP")
DECLARE_PARAMETERS

/* P: in an incast it is large. */
#define ONE_BITS 18
#define POWER_MOST 0x7fffffff
/* Windows are kept as shares of line_rate tau, the largest. */
#define SHARE_BITS 31
#define WHOLE (1u << SHARE_BITS)

struct powertcp {
	u32 window, old; /* 0: nothing was reported */
	u32 power;       /* P, Q18 */
	u32 left;        /* packets until the window has passed */
	struct telemetry t;
};
DECLARE_STATE(struct powertcp)

/* A hop's power over its base power, Q18. */
static u32 hop_power(const struct hop *h, const struct passed *p, u32 rtt)
{
	u64 came = (u64)p->bytes + h->queue, current, voltage, power;

	if (came <= p->queue)
		return 0;
	/* 2^33 bytes at most: below 2^62. Each of the two in Q16, and not above 2^30. */
	current = ((came - p->queue) * 8000 << 16) / ((u64)h->rate * p->time);
	voltage = ONE_PACKET + ((u64)h->queue << 16) / hop_bdp(h, rtt);
	power = min_u64(current, 1 << 30) * min_u64(voltage, 1 << 30) >> (32 - ONE_BITS);
	return (u32)min_u64(power, POWER_MOST);
}

/* 1: a hop could be compared, and P is new. */
static u32 measure(struct powertcp *c, const struct report *r, u32 rtt)
{
	u32 largest = 0, time = 0;

	for (u32 i = 0; i < HOPS && i < r->hop_count; i++) {
		struct passed p = passed_at(&c->t, r, i);
		u32 power = p.time ? hop_power(&r->hops[i], &p, rtt) : 0;

		if (power > largest) {
			largest = power;
			time = p.time;
		}
	}
	if (r->hop_count)
		remember_hops(&c->t, r);
	if (time)
		c->power = max_u32(over_rtt(c->power, largest, time, rtt), 1);
	return time;
}

static u32 powertcp_report(struct subflow *s, const struct report *r)
{
	struct powertcp *c = state_of(s);
	u64 gamma = PARAMETER(s, gamma), window;
	u32 rtt = min_u32(r->base_rtt, 1u << 31), passed;

	if (!c->window) {
		c->window = WHOLE;
		c->old = WHOLE;
		c->power = 1u << ONE_BITS;
	}
	passed = window_passed(&c->left, r);
	if (measure(c, r, rtt)) {
		window = ((u64)c->old << ONE_BITS) / c->power + WHOLE / PARAMETER(s, flows); /* below 2^50 */
		window = (gamma * window + (1000 - gamma) * c->window + 500) / 1000;
		c->window = (u32)min_u64(max_u64(window, 1), WHOLE);
		if (passed) {
			c->old = c->window;
			c->left = s->in_flight;
		}
	}
	window = fix_mul_shr(carried(s, r, r->base_rtt), c->window, SHARE_BITS);
	use_window_begun(s, window);
	return pace_of(s, r, window, r->base_rtt);
}

CONTROLLER(powertcp,
	.title = "PowerTCP: power, what enters a port times what is in it",
	.source = "Addanki, Michel and Schmid, NSDI 2022, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS | SIGNAL_TELEMETRY,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_DELAY, "Addanki et al. (NSDI 2022)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.report = powertcp_report);
