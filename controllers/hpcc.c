/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * HPCC: a window that keeps the fullest port on the path at 95 %, from what switches write into packets.
 *
 * Source: Li et al., SIGCOMM 2019, Algorithm 1, from memory; checked with its authors' ns-3 code
 * (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc, UpdateRateHp). T is the base RTT, B a port's
 * rate, tau the time between two packets at a port:
 *
 *   each hop               u_i = min(qlen, qlen before)/(B T) + (bytes sent since)/(tau B)
 *   in flight              U = (1 - tau/T) U + tau/T u, with u and tau of the hop whose u_i is largest
 *   U >= eta, or stage >= max_stage    W = Wc/(U/eta) + W_ai
 *   else                   W = Wc + W_ai
 *   once a window          Wc = W; stage = 0 in the first case, stage + 1 in the second
 *   always                 the pace is W/T; W starts with line_rate T; W_ai = line_rate T (1 - eta)/flows
 *
 * W is at most line_rate T, and U starts at 1, as in its authors' code. A packet leaves as long as less
 * than W is in flight, also as there. With flows = 100, at 100 Gbit/s and 13 us, W_ai is the paper's 80
 * bytes.
 *
 * Deviations:
 *   - a window ends when more packets were reported than were in flight when it began; there when a
 *     packet is acknowledged that was sent since: reports have no sequence numbers.
 *   - five hops at most, compared by their positions (telemetry.h). For schemes whose packets stay on one
 *     path: otherwise, values of one port are compared with those of another.
 *   - losses leave the window as it is: the paper has lossless links. A NACK counts by what its header was told
 *     on the way, as in its authors' code, whose NACKs carry the telemetry of the packet that they answer.
 *   - T is at most 2 s, U at most 127.
 */
#include "spray.h"
#include "telemetry.h"

#define PARAMETERS(P) \
	P(eta, 950, 1, 1000, "1/1000", "target utilisation of the fullest port") \
	P(max_stage, 5, 0, 200, "window", "number of additive steps before a multiplicative one") \
	P(flows, 100, 1, 100000, "flow", "N: the number of flows that share what eta leaves")
DECLARE_PARAMETERS

/* U. */
#define ONE_BITS 24
#define U_MOST 0x7fffffff
/* Windows are kept as shares of line_rate T, the largest. */
#define SHARE_BITS 31
#define WHOLE (1u << SHARE_BITS)

struct hpcc {
	u32 window, base; /* W and Wc; 0: nothing was reported */
	u32 in_flight;    /* U, Q24 */
	u32 left;         /* packets until the window has passed */
	struct telemetry t; /* its spare byte is the stage */
};
DECLARE_STATE(struct hpcc)

/* u_i, Q24. */
static u32 hop_load(const struct hop *h, const struct passed *p, u32 rtt)
{
	u64 queue = ((u64)min_u32(h->queue, p->queue) << ONE_BITS) / hop_bdp(h, rtt);
	u64 sent = (p->bytes * 8000ULL << 16) / ((u64)h->rate * p->time) << (ONE_BITS - 16);

	return (u32)min_u64(queue + sent, U_MOST);
}

/* 1: a hop could be compared, and U is new. */
static u32 measure(struct hpcc *c, const struct report *r, u32 rtt)
{
	u32 largest = 0, time = 0;

	for (u32 i = 0; i < HOPS && i < r->hop_count; i++) {
		struct passed p = passed_at(&c->t, r, i);
		u32 u = p.time ? hop_load(&r->hops[i], &p, rtt) : 0;

		if (u > largest) {
			largest = u;
			time = p.time;
		}
	}
	if (r->hop_count)
		remember_hops(&c->t, r);
	if (time)
		c->in_flight = over_rtt(c->in_flight, largest, time, rtt);
	return time;
}

static void compute_window(const struct subflow *s, struct hpcc *c, u32 passed)
{
	u64 eta = PARAMETER(s, eta), ratio = max_u64(c->in_flight * 1000ULL / eta, 1); /* U/eta, Q24 */
	u32 divides = ratio >> ONE_BITS || c->t.spare >= PARAMETER(s, max_stage);
	u64 increase = max_u64(WHOLE / 1000 * (1000 - eta) / PARAMETER(s, flows), 1);
	u64 window = (divides ? ((u64)c->base << ONE_BITS) / ratio : c->base) + increase;

	c->window = (u32)min_u64(window, WHOLE);
	if (!passed)
		return;
	c->base = c->window;
	c->t.spare = divides ? 0 : (u8)(c->t.spare + 1);
	c->left = s->in_flight;
}

static u32 hpcc_report(struct subflow *s, const struct report *r)
{
	struct hpcc *c = state_of(s);
	u32 rtt = min_u32(r->base_rtt, 1u << 31), passed;
	u64 window;

	if (!c->window) {
		c->window = WHOLE;
		c->base = WHOLE;
		c->in_flight = 1u << ONE_BITS;
	}
	passed = window_passed(&c->left, r);
	if (measure(c, r, rtt))
		compute_window(s, c, passed);
	window = fix_mul_shr(carried(s, r, r->base_rtt), c->window, SHARE_BITS);
	use_window_begun(s, window);
	return pace_of(s, r, window, r->base_rtt);
}

CONTROLLER(hpcc,
	.title = "HPCC: the fullest port on the path at 95 %, from what switches write into packets",
	.source = "Li et al., SIGCOMM 2019, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS | SIGNAL_TELEMETRY,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_DELAY, "Li et al. (SIGCOMM 2019)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.report = hpcc_report);
