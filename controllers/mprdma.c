/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * MP-RDMA: one window for all paths, which every acknowledged packet changes a little.
 *
 * Source: Lu et al., NSDI 2018, from memory and second-hand: the paper was not at hand. w is the window of
 * the whole connection, in packets:
 *
 *   unmarked packet        w += 1/w
 *   marked packet          w -= 1/2
 *   loss                   w = w/2, at most once an RTT
 *
 * The balancer decides which path a packet takes: MP-RDMA sends the next one where this one came from.
 *
 * Deviations, or what the source leaves open:
 *   - w starts at the BDP and is never below one packet.
 *   - a report of several packets changes w by all unmarked ones at its present size, then by marked ones.
 *   - a trim is a loss. An RTT is the newest sample, or the base RTT before there is one.
 *   - w does not grow while the application is the limit.
 */
#include "spray.h"

#define PARAMETERS(P) \
	P(increase, 1000, 1, 100000, "1/1000 packet", "increase per RTT by unmarked packets") \
	P(decrease, 500, 0, 1000, "1/1000 packet", "decrease per marked packet")
DECLARE_PARAMETERS

struct mprdma {
	u64 window;   /* Q16 packets; 0: nothing was reported */
	u64 last_cut; /* ns */
	u32 rtt;      /* newest sample, ns */
};
DECLARE_STATE(struct mprdma)

static u32 mprdma_report(struct subflow *s, const struct report *r)
{
	struct mprdma *m = state_of(s);
	u32 marked = min_u32(r->marked, r->delivered);
	u64 cut = PARAMETER(s, decrease) * marked;

	if (!m->window) {
		m->window = carried(s, r, r->base_rtt);
		m->last_cut = r->now - (1ULL << 32); /* longer than any RTT ago */
	}
	if (r->rtt)
		m->rtt = r->rtt;
	if (!r->app_limited)
		m->window += (few(r->delivered - marked) * PARAMETER(s, increase) << 32) / 1000 / m->window;
	cut = (cut << 16) / 1000;
	m->window = m->window > cut + ONE_PACKET ? m->window - cut : ONE_PACKET;
	if ((r->trimmed || r->lost) && r->now - m->last_cut >= (m->rtt ? m->rtt : r->base_rtt)) {
		m->window = max_u64(m->window / 2, ONE_PACKET);
		m->last_cut = r->now;
	}
	m->window = min_u64(m->window, WIDEST);
	use_window(s, m->window);
	return 0;
}

CONTROLLER(mprdma,
	.title = "MP-RDMA: one window for all paths, changed by every acknowledged packet",
	.source = "Lu et al., NSDI 2018",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_PACKETS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_ROUNDS, "Lu et al. (NSDI 2018)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.report = mprdma_report);
