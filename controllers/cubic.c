/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * CUBIC: a window that is a cubic function of the time since the last congestion.
 *
 * Source: RFC 9438 §4; catalogue S2. w is the window, t the time since this stage of congestion
 * avoidance began, w_epoch the window at that moment, prior the window before the last cut, T the
 * smoothed RTT:
 *
 *   cubic                  W(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - w_epoch) / C)   (Fig. 1, 2)
 *   Reno-friendly          W_est = w_epoch, then W_est += a/w for each packet delivered;  a is
 *                          3 (1 - beta) / (1 + beta), and 1 once W_est >= prior           (Fig. 4)
 *   congestion avoidance   W(t) < W_est: w = W_est
 *                          else w += (target - w)/w for each packet delivered, target = W(t + T),
 *                          not below w and not above 1.5 w                                (§4.2-4.5)
 *   loss or mark           W_max = w, or w (1 + beta)/2 if w < W_max (fast convergence), w = beta w,
 *                          not below 2 packets                                            (§4.6, 4.7)
 *   timeout                the next stage has W_max = w_epoch and K = 0                   (§4.8)
 *
 * C = 0.4 packets/s^3 and beta = 0.7. A mark is treated like a loss (§4.6). A first stage without a
 * preceding congestion is like one after a timeout, with prior = w (§4.10). t does not run while the
 * application, not the window, is the limit (§4.2, 5.8): between two ACKs of which the later one says
 * so, and for at most a round trip, because an ACK of a busy sender comes within one. If a floor of 2
 * packets leaves w_epoch above W_max, the stage is like one after a timeout too, as in Linux; the RFC
 * does not cover this.
 *
 * K is accurate to 2^-20 of its value and 2 us, W to 10^-5 of its distance from W_max and 2^-20 packets.
 *
 * HyStart++ (§4.10, a SHOULD) is off: slow start lasts until the first congestion or ssthresh.
 *
 * Deviations from RFC 9438:
 *   - w includes its fraction when it is compared with W, but not when it is a divisor.
 *   - W_est never lowers the window, and raises it at most by what was delivered: slow start's pace.
 *   - the window is cut from cwnd, as in Linux, whereas §4.6 cuts the data in flight; and to at least
 *     2 packets for a mark too.
 *   - the host restores the window after a spurious loss (§4.9); the stage then starts over.
 */
#include "controller.h"

#define PARAMETERS(P)                                                          \
	P(c, 400, 1, 4000, "1/1000 packet/s^3", "C, how steep the cubic is")   \
	P(beta, 700, 100, 950, "1/1000", "a loss or a mark cuts cwnd to beta cwnd") \
	P(fast_convergence, 1, 0, 1, "", "1: a window that stayed below the last W_max gives up room to others")
DECLARE_PARAMETERS

struct cubic {
	u64 credit;   /* fraction of a packet still to add, Q48 */
	u64 last;     /* time of the last ACK, us */
	u64 epoch;    /* when the stage began, us */
	u64 k;        /* us */
	u64 w_max;    /* Q28 packets; 0: no congestion, or a timeout */
	u64 origin;   /* W_max of this stage, Q28 packets */
	u64 estimate; /* W_est, Q40 packets */
	u32 prior;    /* packets; 0: no congestion yet */
	u32 begun;    /* this stage of congestion avoidance */
};
DECLARE_STATE(struct cubic)

/* floor(cbrt(v)) for v below 2^63, bit by bit and without a branch. */
static u64 cube_root(u64 v)
{
	u64 root = 0;

	for (u32 bit = 21; bit-- > 0;) {
		u64 next = root + (1ULL << bit);

		root = fix_select(fix_less(v, next * next * next), root, next);
	}
	return root;
}

/* cbrt(rise / C) in us, for rise in Q28 packets. */
static u64 time_to_rise(u64 rise, u64 c)
{
	/* cbrt is divided by 2^9 in Q27, and v gets the 61 to 63 bits that make the root 21 bits long. */
	u64 v = (rise >> 1) * 1000 / c;
	u32 thirds = v ? (62 - fix_msb(v)) / 3 : 0;

	return (cube_root(v << 3 * thirds) * 1000000) >> (9 + thirds);
}

/* C |d|^3, Q28 packets, for d in us below 2^31 (36 minutes, where it is above 2^20 packets). */
static u64 cubic_rise(u64 d, u64 c)
{
	/* d^3 = v 2^30 us^3, and C d^3 = c/1000 v 2^30 / 10^18 = c v 2^9 / 5^21. */
	const u64 factor = 649037107317; /* 2^88 / 5^21 */
	u64 v = fix_mul_shr(d * d, d, 30);

	return fix_mul_shr(v, c * factor, 51);
}

/* W(t), Q28 packets; t in us. */
static u64 cubic_window(const struct cubic *s, u64 t, u64 c)
{
	u64 longest = (1ULL << 31) - 1;
	u64 d = t > s->k ? t - s->k : s->k - t;
	u64 rise = cubic_rise(d < longest ? d : longest, c);

	if (t > s->k)
		return s->origin + rise;
	return s->origin > rise ? s->origin - rise : 0;
}

static void begin_stage(struct cubic *c, u32 cwnd, u64 now, u64 steepness)
{
	u64 w = (u64)cwnd << 28;

	c->begun = 1;
	c->epoch = now;
	c->estimate = (u64)cwnd << 40;
	if (!c->prior)
		c->prior = cwnd;
	if (c->w_max > w) {
		c->origin = c->w_max;
		c->k = time_to_rise(c->w_max - w, steepness);
	} else {
		c->origin = w;
		c->k = 0;
	}
}

static void cubic_ack(struct subflow *s, const struct ack *a)
{
	struct cubic *c = state_of(s);
	u64 gap = a->now - c->last, round_trip = (a->rtt ? a->rtt : s->srtt) / 8;

	if (!s->cwnd_limited)
		c->epoch += gap;
	else if (round_trip && gap > round_trip)
		c->epoch += gap - round_trip;
	c->last = a->now;
}

static void cubic_grow(struct subflow *s, const struct ack *a)
{
	struct cubic *c = state_of(s);
	u32 left = slow_start(s, a->delivered);
	u64 steepness = PARAMETER(s, c), beta = PARAMETER(s, beta);
	u64 n = left < (1u << 14) ? left : 1u << 14;
	u64 gain = 1ULL << 40, w, t, target;

	if (!left)
		return;
	if (!c->begun)
		begin_stage(c, s->cwnd, a->now, steepness);
	if (c->estimate >> 40 < c->prior)
		gain = (3 * (1000 - beta) << 40) / (1000 + beta);
	if (c->estimate >> 40 < CWND_LIMIT)
		c->estimate += n * gain / s->cwnd;

	w = ((u64)s->cwnd << 28) + (c->credit >> 20);
	t = a->now - c->epoch;
	if (cubic_window(c, t, steepness) < c->estimate >> 12) {
		u64 rise = c->estimate >> 12 > w ? (c->estimate >> 12) - w : 0;

		raise_window(s, &c->credit, 1, (rise < n << 28 ? rise : n << 28) << 20);
		return;
	}
	target = cubic_window(c, t + s->srtt / 8, steepness);
	if (target > w + w / 2)
		target = w + w / 2;
	if (target > w)
		raise_window(s, &c->credit, left, ((target - w) << 14) / s->cwnd << 6);
}

static u32 cubic_congestion(struct subflow *s, enum cause cause)
{
	struct cubic *c = state_of(s);
	u64 beta = PARAMETER(s, beta), w = (u64)s->cwnd << 28;

	if (PARAMETER(s, fast_convergence) && w < c->w_max)
		c->w_max = w * (1000 + beta) / 2000;
	else
		c->w_max = w;
	c->prior = s->cwnd;
	c->begun = 0;
	c->credit = 0;
	return max_u32((u32)(s->cwnd * beta / 1000), 2);
}

static void cubic_timeout(struct subflow *s)
{
	state_of(s)->w_max = 0;
	state_of(s)->begun = 0;
}

CONTROLLER(cubic,
	.title = "CUBIC: a window that is a cubic function of the time since the last congestion",
	.source = "RFC 9438 §4",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(SEPARATE, "RFC 9438")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.ack = cubic_ack,
	.grow = cubic_grow,
	.congestion = cubic_congestion,
	.timeout = cubic_timeout);
