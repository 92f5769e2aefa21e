/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Right with its default, and below its floor at the end of its parameter's range. */
#include "reno_like.h"

#define PARAMETERS(P) P(share, 2, 1, 8, "", "congestion cuts cwnd by cwnd / share")
DECLARE_PARAMETERS

static u32 cut_share(struct subflow *s, enum cause cause)
{
	return s->cwnd - s->cwnd / (u32)PARAMETER(s, share);
}

CONTROLLER(ends,
	.title = "broken",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	.grow = reno_like_grow,
	.congestion = cut_share);
