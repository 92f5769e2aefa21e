/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Swift: a window that follows a target delay, even below one packet.
 *
 * Source: Kumar et al., SIGCOMM 2020, Algorithm 1 and the target of its §3.5, from memory and from
 * csg-htsim's sim/swift.cpp, whose author marks base_target, hop_target, ai and the thresholds as guesses: so
 * are the defaults here. w is in packets, n packets are acknowledged:
 *
 *   target                 base_target + hops hop_target + max(0, min(A/sqrt(w) + B, fs_range)), with
 *                          A = fs_range / (1/sqrt(fs_min) - 1/sqrt(fs_max)), B = -A/sqrt(fs_max)
 *   RTT < target           w += ai n/w, for w below one packet w += ai n
 *   RTT >= target          w *= max(1 - beta (RTT - target)/RTT, 1 - max_mdf), at most once an RTT
 *   trimmed                w *= 1 - max_mdf, at most once an RTT: its fast recovery
 *   timer                  the same, and from the `reset`-th without an ACK between them on: w = least
 *   always                 w between least and most; below one packet: a packet each RTT/w
 *
 * Deviations:
 *   - the delay is the whole RTT: hosts take no time here, so of the two windows, for the fabric and for
 *     the endpoint, there is only the first.
 *   - a target that an empty path cannot meet would starve a flow: what base_target and hops add up to counts
 *     as at least 5/4 of the base RTT. Flow scaling is added to that: without it, flows whose RTTs are alike
 *     have no reason to share.
 *   - the RTT between two cuts is the newest sample, or the base RTT before there is one.
 *   - trims are not in the paper. They are reported at once, like the holes that its fast recovery finds.
 *   - w starts at the BDP, about which the paper says nothing, and does not grow while the application is
 *     the limit.
 *   - a pace is at least 1 byte/us, and at most what the host's link carries.
 */
#include "spray.h"

#define PARAMETERS(P) \
	P(base_target, 20000, 1000, 1000000000, "ns", "target delay without hops, for a large window") \
	P(hop_target, 3053, 0, 1000000000, "ns", "what each hop adds to the target") \
	P(hops, 5, 0, 255, "hop", "hops of a path, if the host does not report them") \
	P(fs_range, 100000, 0, 1000000000, "ns", "the most that a small window adds to the target") \
	P(fs_min, 100, 1, 1000000, "1/1000 packet", "window at which all of fs_range is added") \
	P(fs_max, 100000, 1, 1000000, "1/1000 packet", "window from which on none of fs_range is added") \
	P(ai, 1000, 1, 100000, "1/1000 packet", "increase per RTT") \
	P(beta, 80, 1, 100, "%", "strength of the cut by delay") \
	P(max_mdf, 50, 1, 99, "%", "the most that a cut takes") \
	P(reset, 5, 1, 1000, "timeout", "timeouts in a row after which the window is the smallest") \
	P(least, 1, 1, 1000000, "1/1000 packet", "smallest window") \
	P(most, 4096, 1, 1048576, "packet", "largest window")
DECLARE_PARAMETERS

struct swift {
	u64 window;   /* Q16 packets; 0: nothing was reported */
	u64 last_cut; /* ns */
	u32 rtt;      /* newest sample, ns */
	u32 timeouts; /* since the last ACK */
	u32 root_max; /* 1/sqrt(fs_max), Q24 */
	u32 span;     /* 1/sqrt(fs_min) - 1/sqrt(fs_max), Q24; 0: none */
};
DECLARE_STATE(struct swift)

/* 1/1000 packet as Q16 packets. */
static u64 packets(u64 thousandths)
{
	return (thousandths << 16) / 1000;
}

/* 1/sqrt(w), Q24, for w in Q16 packets, at least 1/1000 of one. */
static u32 inverse_root(u64 window)
{
	return (u32)((1ULL << 40) / fix_sqrt(window << 16));
}

static void swift_init(struct subflow *s)
{
	struct swift *w = state_of(s);
	u32 largest = inverse_root(packets(PARAMETER(s, fs_min)));

	w->root_max = inverse_root(packets(PARAMETER(s, fs_max)));
	w->span = largest > w->root_max ? largest - w->root_max : 0;
}

/* What flow scaling adds to the target, ns. */
static u64 flow_scaling(const struct subflow *s, const struct swift *w)
{
	u32 own;

	if (w->window >= packets(PARAMETER(s, fs_max)))
		return 0;
	if (w->window <= packets(PARAMETER(s, fs_min)) || !w->span)
		return PARAMETER(s, fs_range);
	/* Of a window next to fs_max the root may be rounded to the other side. */
	own = max_u32(inverse_root(w->window), w->root_max);
	return PARAMETER(s, fs_range) * (own - w->root_max) / w->span;
}

static u64 target_of(const struct subflow *s, const struct swift *w, const struct report *r)
{
	u64 hops = r->hop_count ? r->hop_count : PARAMETER(s, hops);
	u64 fixed = PARAMETER(s, base_target) + hops * PARAMETER(s, hop_target);

	return max_u64(fixed, (u64)r->base_rtt + r->base_rtt / 4) + flow_scaling(s, w);
}

static u64 bounded(const struct subflow *s, u64 window)
{
	return min_u64(max_u64(window, packets(PARAMETER(s, least))), PARAMETER(s, most) << 16);
}

/* The window without the part `cut` (Q16), unless one was taken less than an RTT ago. */
static void cut_by(const struct subflow *s, struct swift *w, const struct report *r, u64 cut)
{
	u64 left = bounded(s, w->window - (w->window * cut >> 16));

	if (r->now - w->last_cut < (w->rtt ? w->rtt : r->base_rtt))
		return;
	if (left < w->window)
		w->last_cut = r->now;
	w->window = left;
}

static void grow(const struct subflow *s, struct swift *w, const struct report *r)
{
	u64 increase = packets(PARAMETER(s, ai)) * few(r->delivered);

	increase = w->window < ONE_PACKET ? increase : (increase << 16) / w->window;
	w->window = bounded(s, w->window + increase);
}

static u32 swift_report(struct subflow *s, const struct report *r)
{
	struct swift *w = state_of(s);
	u64 mdf = (PARAMETER(s, max_mdf) << 16) / 100;

	if (!w->window) {
		w->window = bounded(s, carried(s, r, r->base_rtt));
		w->last_cut = r->now - (1ULL << 32); /* longer than any RTT ago */
	}
	if (r->rtt)
		w->rtt = r->rtt;
	if (r->delivered)
		w->timeouts = 0;
	if (r->delivered && r->rtt) {
		u64 target = target_of(s, w, r);
		u64 above = r->rtt > target ? r->rtt - target : 0;

		if (r->rtt >= target)
			cut_by(s, w, r, min_u64((PARAMETER(s, beta) * above << 16) / 100 / r->rtt, mdf));
		else if (!r->app_limited)
			grow(s, w, r);
	}
	if (r->trimmed)
		cut_by(s, w, r, mdf);
	if (r->lost) {
		w->timeouts = add_u32(w->timeouts, 1);
		if (w->timeouts < PARAMETER(s, reset)) {
			cut_by(s, w, r, mdf);
		} else if (w->window > bounded(s, 0)) {
			w->window = bounded(s, 0);
			w->last_cut = r->now;
		}
	}
	use_window(s, w->window);
	return w->window < ONE_PACKET ? pace_of(s, r, w->window, w->rtt ? w->rtt : r->base_rtt) : 0;
}

CONTROLLER(swift,
	.title = "Swift: a window that follows a target delay, even below one packet",
	.source = "Kumar et al., SIGCOMM 2020",
	.signals = SIGNAL_LOSS | SIGNAL_PACKETS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_DELAY, "Kumar et al. (SIGCOMM 2020)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.init = swift_init,
	.report = swift_report);
