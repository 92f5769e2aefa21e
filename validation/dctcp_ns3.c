/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCTCP with the window of ns-3, which is in bytes: for validation/README.md only.
 *
 * Source: RFC 8257 §3.3; ns-3.44, TcpDctcp and TcpLinuxReno. It differs from controllers/dctcp.c, and so from Linux,
 * in two things:
 *   - a cut keeps its fraction of a packet; Linux cuts by whole packets, rounded down.
 *   - the packets that were counted towards the next increase still count after a cut; Linux counts from 0.
 */
#include "dctcp_alpha.h"

#define PARAMETERS(P) DCTCP_ALPHA_PARAMETERS(P)
DECLARE_PARAMETERS

struct dctcp {
	u32 fraction; /* what the window is above whole packets, Q20 */
	u32 count; /* packets ACKed since the last increase */
	struct dctcp_alpha estimate;
};
DECLARE_STATE(struct dctcp)

static void dctcp_init(struct subflow *s)
{
	dctcp_alpha_init(&state_of(s)->estimate, PARAMETER(s, alpha_start));
}

static void dctcp_ack(struct subflow *s, const struct ack *a)
{
	dctcp_alpha_ack(&state_of(s)->estimate, a, PARAMETER(s, g_shift));
}

static void dctcp_grow(struct subflow *s, const struct ack *a)
{
	struct dctcp *d = state_of(s);
	u32 left = slow_start(s, a->delivered);

	if (!left)
		return;
	d->count += left;
	if (d->count >= s->cwnd) {
		d->count -= s->cwnd;
		s->cwnd += 1;
	}
}

static u32 dctcp_congestion(struct subflow *s, enum cause cause)
{
	struct dctcp *d = state_of(s);
	u64 window = ((u64)s->cwnd << 20) + d->fraction; /* Q20 */

	window -= cause == LOSS_EVENT ? window / 2 : (window * d->estimate.alpha) >> 21;
	d->fraction = window & ((1u << 20) - 1);
	return max_u32((u32)(window >> 20), 2);
}

static void dctcp_timeout(struct subflow *s)
{
	dctcp_alpha_timeout(&state_of(s)->estimate);
}

CONTROLLER(dctcp_ns3,
	.title = "DCTCP with the window of ns-3",
	.source = "RFC 8257 §3.3",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	.init = dctcp_init,
	.ack = dctcp_ack,
	.grow = dctcp_grow,
	.congestion = dctcp_congestion,
	.timeout = dctcp_timeout);
