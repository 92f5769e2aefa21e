/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * wVegas, weighted Vegas: multipath congestion control by queueing delay.
 *
 * Source: Cao, Xu and Fu, ICNP 2012, in the form of its authors' module in the old MPTCP kernel. Once a
 * round, with T the mean of the round's RTT samples and B the smallest sample ever, for the own
 * subflow r of the subflows k of a connection:
 *
 *   backlog                diff = w_r (T - B)/T, whole packets in queues
 *   slow start             below threshold_r, w_r += 1 for each packet delivered; diff > gamma ends it:
 *                          w_r = min(w_r, w_r B/T + 1), threshold_r = min(threshold_r, w_r - 1)
 *   congestion avoidance   diff >= alpha_r: the rate w_r/T is told to the siblings, and
 *                          alpha_r = max(2, total_alpha rate_r / sum_k rate_k), whole packets
 *                          w_r -= 1 and threshold_r = min(threshold_r, w_r - 1) if diff > alpha_r,
 *                          w_r += 1 if diff < alpha_r
 *   draining               q is the smallest T - B since the last draining; T - B >= 2 q: w_r *= B/2T
 *   last                   threshold_r = max(threshold_r, 3/4 w_r)
 *   loss or mark           w_r = w_r/2, threshold_r = w_r
 *
 * So a connection aims at total_alpha packets in queues, more of them where its rate is higher; a path with
 * a long queue gives up rate. If nothing makes RTTs vary it does not reach that: the first queue has one
 * packet, the next two, which is twice the smallest, and the window is halved. Slow start brings it back
 * to threshold_r. Alone in the simulator, with an ACK for each packet, it has 83 of 97 Mbit/s at 20 ms
 * and all of 1 Gbit/s at 225 us in 20 s. If one ACK covers two packets and the RTT is that of the first
 * (RFC 7323), the wait for the second counts as a queue: 15 of 97 Mbit/s, and 962 of 973. A window never
 * falls below 2 packets. alpha_r starts at 2.
 *
 * EXCEPTION to the contract: `grow` may lower the window, because delay is the signal of congestion.
 *
 * A round of one or two RTT samples says too little: the ACK that ends it grows the window as in Reno. So
 * do all ACKs while packets are reordered, lost or being repaired; after that, as after a mark, the control
 * starts over, with everything except B forgotten.
 *
 * Deviations from the kernel's module:
 *   - T - B = 0 drains nothing. There it counted as at least twice the smallest, which is 0 too, and halved
 *     the window of a path without any queue in each round; jitter hid this.
 *   - threshold_r is the controller's own from the first such round to the next loss or mark; there it was
 *     ssthresh, which is the host's here.
 *   - a sibling counts from its first rate on, even in a round in which it has no sample yet.
 *   - RTTs are in 1/8 us; there each sample was a whole number of us, and 1 us was added.
 */
#include "controller.h"

#define PARAMETERS(P)                                                          \
	P(total_alpha, 10, 2, 64, "packet", "backlog of the whole connection") \
	P(gamma, 1, 0, 64, "packet", "backlog that ends slow start")
DECLARE_PARAMETERS

#define FLOOR 2
#define LEAST_ALPHA 2

struct wvegas {
	u64 credit; /* fraction of a packet still to add, Q48: Reno's growth only */
	u64 sum;    /* of this round's RTT samples, 1/8 us */
	u64 samples;
	u64 queue;  /* smallest queueing delay since the last draining, 1/8 us; 0: none */
	u32 base;   /* smallest RTT sample ever, 1/8 us; 0: none */
	u32 alpha;  /* packets; 0: the control has yet to begin (anew) */
	u32 threshold; /* where slow start ends, packets; 0: at the host's ssthresh */
};
DECLARE_STATE(struct wvegas)

static void begin_anew(struct subflow *s)
{
	struct wvegas *v = state_of(s);

	s->word = 0;
	v->sum = 0;
	v->samples = 0;
	v->queue = 0;
	v->alpha = LEAST_ALPHA;
}

/* Where slow start ends, packets. */
static u32 threshold_of(struct subflow *s)
{
	struct wvegas *v = state_of(s);

	return v->threshold ? v->threshold : s->ssthresh;
}

/* Where a queue has lowered the window there is no slow start. */
static void lower_threshold(struct subflow *s, struct wvegas *v)
{
	v->threshold = min_u32(v->threshold, s->cwnd - 1);
}

/* alpha_r by the own share of the rates. The own word must be fresh, so that the sum is not 0. */
static u32 weighted_alpha(const struct subflow *s)
{
	u64 total = 0;

	/* A rate is below 2^57, total_alpha times it and the sum of 64 below 2^63. */
	FOR_EACH_SUBFLOW(p, s)
		total += p.word;
	return max_u32(total ? (u32)(PARAMETER(s, total_alpha) * s->word / total) : 0, LEAST_ALPHA);
}

/* Congestion avoidance at the end of a round whose mean RTT is rtt. */
static void avoid_congestion(struct subflow *s, struct wvegas *v, u64 rtt, u64 diff)
{
	u64 delay = rtt - v->base;

	if (diff >= v->alpha) {
		s->word = ((u64)s->cwnd << 40) / rtt; /* packets per 1/8 us, Q40 */
		v->alpha = weighted_alpha(s);
	}
	if (diff > v->alpha) {
		s->cwnd--;
		lower_threshold(s, v);
	} else if (diff < v->alpha) {
		s->cwnd++;
	}
	if (!delay)
		return;
	if (!v->queue || delay < v->queue)
		v->queue = delay;
	if (delay >= 2 * v->queue) {
		s->cwnd = (u32)((u64)s->cwnd * v->base / (2 * rtt));
		v->queue = 0;
	}
}

static void end_round(struct subflow *s, struct wvegas *v, u32 delivered)
{
	u64 rtt = v->sum / v->samples;
	u64 diff = s->cwnd * (rtt - v->base) / rtt;

	v->threshold = threshold_of(s);
	if (s->cwnd >= v->threshold) {
		avoid_congestion(s, v, rtt, diff);
	} else if (diff > PARAMETER(s, gamma)) {
		s->cwnd = min_u32(s->cwnd, (u32)((u64)s->cwnd * v->base / rtt) + 1);
		lower_threshold(s, v);
	} else {
		slow_start_to(s, v->threshold, delivered);
	}
	s->cwnd = max_u32(s->cwnd, FLOOR);
	v->threshold = max_u32(v->threshold, s->cwnd / 2 + s->cwnd / 4);
}

static void wvegas_ack(struct subflow *s, const struct ack *a)
{
	struct wvegas *v = state_of(s);
	u32 rtt;

	if (s->state != OPEN)
		v->alpha = 0;
	else if (!v->alpha)
		begin_anew(s);
	if (!a->rtt)
		return;
	rtt = max_u32(a->rtt, SRTT_LEAST); /* so that a rate is below 2^57 */
	if (!v->base || rtt < v->base)
		v->base = rtt;
	v->sum += rtt;
	v->samples++;
}

static void wvegas_grow(struct subflow *s, const struct ack *a)
{
	struct wvegas *v = state_of(s);
	u32 left;

	if (v->alpha && a->new_round && v->samples > 2) {
		end_round(s, v, a->delivered);
	} else {
		left = slow_start_to(s, threshold_of(s), a->delivered);
		if (left && (!v->alpha || a->new_round))
			raise_window(s, &v->credit, left, reno_increase(s));
	}
	if (a->new_round) {
		v->sum = 0;
		v->samples = 0;
	}
}

static u32 wvegas_congestion(struct subflow *s, enum cause cause)
{
	struct wvegas *v = state_of(s);

	s->word = 0;
	v->credit = 0;
	v->alpha = 0;
	v->threshold = 0;
	return half_window(s);
}

CONTROLLER(wvegas,
	.title = "wVegas: a backlog in the queues, divided among the paths by their rates",
	.source = "Cao, Xu and Fu, ICNP 2012",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_LOWERS,
	.coupled = 1,
	.min_cwnd = FLOOR,
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_ALPHA_FAIR, .unit = UNIT_PACKET, .weight = VALUE_OF(total_alpha),
		    .pooling = POOLED, .price = PRICE_DELAY, .standing = STANDING_CLAIMED,
		    .source = "Cao, Xu, Fu (ICNP 2012): congestion equality",
		    .caveat = "The price is the queueing delay." }),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.ack = wvegas_ack,
	.grow = wvegas_grow,
	.congestion = wvegas_congestion);
