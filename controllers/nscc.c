/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * NSCC, Ultra Ethernet's sender-based control: four reactions to a mark and a queueing delay.
 *
 * Source: uet-htsim 40ccb05, htsim/sim/uec.cpp (the simulator of the Ultra Ethernet Consortium), read in a
 * public copy; the specification itself was not read. n packets are acknowledged, delay = RTT - base RTT, a is
 * the network's BDP over that of 100 Gbit/s and 12 us, at most 1024, T the network's RTT, target = 0.75 T.
 * Windows are in packets:
 *
 *   start                  w = most = 1.5 BDP; w is always between 1 packet and most
 *   average                avg += 0.0125 (delay - avg); an unmarked delay above target is base RTT/4 here
 *   quick adapt            once in base RTT + target: if fewer than most/8 packets arrived since, and one was
 *                          trimmed or delay > 4 target: w = what arrived; then a marked ACK does not count
 *                          until as many packets as are in flight now were told of
 *   unmarked, delay >= target   inc += 5 a n                             (fair increase)
 *   unmarked, delay <  target   inc += 4 a n (target - delay)/12 us      (proportional increase)
 *                          but if delay < 1 us for more than w packets: w += a n/4, as long as delay < 1 us
 *   marked,   delay >= target   w *= max(1 - 0.8 (avg - target)/avg, 1/2), once a base RTT, if avg > target
 *   marked,   delay <  target   nothing: another path is enough
 *   more than 8 packets, or T   w += inc/w, inc = 0; after T also w += 0.15 a
 *   trimmed                avg takes T for delay, and quick adapt is asked; else w -= 1 a packet
 *   lost                   w -= 1 a packet
 *
 * Deviations:
 *   - T is the own path's base RTT if network_rtt is 0; uet-htsim has one for the whole network.
 *   - the base RTT is the host's; there a smaller sample replaces it.
 *   - an ACK counts as marked if any of its packets was; there if the one that caused it was. The packets
 *     of one NACK move the average once.
 *   - an ACK without a sample uses the average as its delay, like an ACK with an RTT below the base there.
 *   - windows count payload; there they include headers. With a window of 10.9 packets, 10 are in flight.
 */
#include "spray.h"

#define PARAMETERS(P) \
	P(target, 75, 1, 1000, "%", "target queueing delay, as a share of the network's RTT (100 without trimming)") \
	P(network_rtt, 0, 0, 1000000000, "ns", "the network's RTT; 0: the path's") \
	P(max_window, 150, 1, 1000, "%", "largest and first window, as a share of the BDP") \
	P(fair, 5000, 0, 100000, "1/1000", "fi: fair increase") \
	P(proportional, 4000, 0, 100000, "1/1000", "alpha: proportional increase") \
	P(eta, 150, 0, 100000, "1/1000 packet", "increase of each period") \
	P(fast, 250, 0, 100000, "1/1000", "fi_scale: fast increase") \
	P(fast_delay, 1000, 0, 1000000, "ns", "fast increase below this delay: there is no queue") \
	P(gamma, 80, 0, 100, "%", "strength of the cut by delay") \
	P(least_left, 50, 1, 100, "%", "the smallest share that such a cut leaves") \
	P(gain, 125, 1, 10000, "1/10000", "weight of the newest delay in the average") \
	P(adjust_packets, 8, 1, 1024, "packet", "increases are added after more than this many packets") \
	P(qa_gate, 3, 0, 20, "bit", "quick adapt if fewer packets than most / 2^qa_gate arrived") \
	P(qa_threshold, 4, 1, 100, "", "quick adapt if delay is above this many targets") \
	P(spare_last_hop, 0, 0, 1, "", "1: a trim before the receiver takes no packet, because its credits do")
DECLARE_PARAMETERS

/* 100 Gbit/s in 12 us, bytes; and the 12 us. */
#define REFERENCE_BDP 150000
#define REFERENCE_RTT 12000
/* The average delay is in 1/16 ns. */
#define DELAY_BITS 4
#define DELAY_MOST ((1u << (32 - DELAY_BITS)) - 1)

struct nscc {
	u64 window;   /* Q16 packets; 0: nothing was reported */
	u64 increase; /* inc, Q16 packets^2 */
	u64 qa_end;   /* when quick adapt looks again, ns */
	u64 last_cut, last_adjust; /* ns */
	u32 delay;    /* avg */
	u32 idle;     /* packets in succession that met no queue */
	u32 received; /* packets since increases were added */
	u32 achieved; /* since quick adapt looked */
	u32 ignored, to_ignore; /* since quick adapt cut */
	u8 fast;      /* fast increase is on */
	u8 trimmed;   /* since quick adapt cut */
	u8 looked;    /* qa_end is set */
};
DECLARE_STATE(struct nscc)

/* What follows from the report and the parameters. */
struct aim {
	u64 most;    /* Q16 packets */
	u64 a;       /* Q16 */
	u64 network; /* ns */
	u64 target;  /* ns */
};

static struct aim aim_of(const struct subflow *s, const struct report *r)
{
	u64 network = PARAMETER(s, network_rtt) ? PARAMETER(s, network_rtt) : r->base_rtt;
	u64 bytes = min_u64(r->line_rate * network / 8000, (u64)REFERENCE_BDP << 10);
	struct aim aim = {
		.most = carried(s, r, r->base_rtt) * PARAMETER(s, max_window) / 100,
		.a = (bytes << 16) / REFERENCE_BDP,
		.network = network,
		.target = max_u64(network * PARAMETER(s, target) / 100, 1),
	};

	aim.most = min_u64(max_u64(aim.most, ONE_PACKET), WIDEST);
	return aim;
}

static void bound(struct nscc *n, const struct aim *aim)
{
	n->window = min_u64(max_u64(n->window, ONE_PACKET), aim->most);
}

static void average(const struct subflow *s, struct nscc *n, u64 delay)
{
	u64 gain = PARAMETER(s, gain), newest = min_u64(delay, DELAY_MOST) << DELAY_BITS;

	n->delay = (u32)((n->delay * (10000 - gain) + newest * gain + 5000) / 10000);
}

/* 1: the window was cut, or what is reported is of packets that were sent before it was. */
static u32 quick_adapt(const struct subflow *s, struct nscc *n, const struct report *r, const struct aim *aim,
		       u32 marked, u64 delay)
{
	u32 done = marked && n->ignored < n->to_ignore;

	if (!done && (!n->looked || r->now > n->qa_end)) {
		u32 asked = n->trimmed || delay > aim->target * PARAMETER(s, qa_threshold);
		u64 achieved = (u64)n->achieved << 16;

		if (n->looked && asked && achieved < aim->most >> PARAMETER(s, qa_gate)) {
			n->window = max_u64(achieved, ONE_PACKET);
			n->to_ignore = s->in_flight;
			n->ignored = 0;
			n->trimmed = 0;
			done = 1;
		}
		n->achieved = 0;
		n->looked = 1;
		n->qa_end = r->now + r->base_rtt + aim->target;
	}
	if (done) {
		n->increase = 0;
		n->received = 0;
	}
	return done;
}

/* Unmarked packets that met a delay below the target. */
static void increase_below(const struct subflow *s, struct nscc *n, const struct aim *aim, u32 count,
			   u64 delay)
{
	u64 share, each;

	if (delay < PARAMETER(s, fast_delay)) {
		n->idle = add_u32(n->idle, count);
		n->fast |= (u64)n->idle << 16 > n->window;
	} else {
		n->idle = 0;
		n->fast = 0;
	}
	if (n->fast) {
		n->window += few(count) * (aim->a * PARAMETER(s, fast) / 1000);
		return;
	}
	share = ((aim->target - delay) << 16) / REFERENCE_RTT;
	each = fix_mul_shr(aim->a * PARAMETER(s, proportional) / 1000, share, 16);
	n->increase += few(count) * min_u64(each, 1ULL << 40);
}

static void cut_by_delay(const struct subflow *s, struct nscc *n, const struct report *r,
			 const struct aim *aim)
{
	u64 target = aim->target << DELAY_BITS, cut, most;

	n->fast = 0;
	n->idle = 0;
	if (n->delay <= target || r->now - n->last_cut <= r->base_rtt)
		return;
	cut = (PARAMETER(s, gamma) * (n->delay - target) << 16) / 100 / n->delay;
	most = ((100 - PARAMETER(s, least_left)) << 16) / 100;
	n->window -= n->window * min_u64(cut, most) >> 16;
	n->last_cut = r->now;
}

/* What was earned is added, now and then. */
static void adjust(const struct subflow *s, struct nscc *n, const struct report *r, const struct aim *aim)
{
	u64 since = r->now - n->last_adjust, w = n->window;

	if (n->received <= PARAMETER(s, adjust_packets) && since <= aim->network)
		return;
	n->window += n->increase >> 47 ? n->increase / w << 16 : (n->increase << 16) / w;
	if (since >= aim->network) {
		n->window += aim->a * PARAMETER(s, eta) / 1000;
		n->last_adjust = r->now;
	}
	n->increase = 0;
	n->received = 0;
}

static void delivered(const struct subflow *s, struct nscc *n, const struct report *r, const struct aim *aim)
{
	u64 delay = n->delay >> DELAY_BITS;

	n->achieved = add_u32(n->achieved, r->delivered);
	n->received = add_u32(n->received, r->delivered);
	n->ignored = add_u32(n->ignored, r->delivered);
	if (r->rtt >= r->base_rtt) {
		delay = r->rtt - r->base_rtt;
		average(s, n, !r->marked && delay > aim->target ? r->base_rtt / 4 : delay);
	}
	if (quick_adapt(s, n, r, aim, r->marked, delay))
		return;
	if (r->marked && delay >= aim->target)
		cut_by_delay(s, n, r, aim);
	else if (!r->marked && delay >= aim->target)
		n->increase += few(r->delivered) * (aim->a * PARAMETER(s, fair) / 1000);
	else if (!r->marked)
		increase_below(s, n, aim, r->delivered, delay);
	bound(n, aim);
	adjust(s, n, r, aim);
	bound(n, aim);
}

static u64 without(u64 window, u32 packets)
{
	return window > ((u64)packets + 1) << 16 ? window - ((u64)packets << 16) : ONE_PACKET;
}

static u32 nscc_report(struct subflow *s, const struct report *r)
{
	struct nscc *n = state_of(s);
	struct aim aim = aim_of(s, r);

	if (!n->window) {
		n->window = aim.most;
		n->last_adjust = r->now;
		n->last_cut = r->now - r->base_rtt - 1;
	}
	if (r->delivered)
		delivered(s, n, r, &aim);
	if (r->trimmed) {
		n->ignored = add_u32(n->ignored, r->trimmed);
		average(s, n, aim.network);
		n->trimmed = 1;
		if (!quick_adapt(s, n, r, &aim, 1, 0) && !(r->last_hop && PARAMETER(s, spare_last_hop)))
			n->window = without(n->window, r->trimmed);
	}
	n->window = without(n->window, r->lost);
	use_window(s, n->window);
	return 0;
}

CONTROLLER(nscc,
	.title = "NSCC: Ultra Ethernet's reactions to a mark and a queueing delay",
	.source = "uet-htsim 40ccb05, uec.cpp",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_PACKETS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_ROUNDS, "uet-htsim, uec.cpp")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.report = nscc_report);
