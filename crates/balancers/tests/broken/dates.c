/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Takes the time for a number. */
#include "balancer.h"

static u32 dates_pick(struct spread *s, u32 sequence)
{
	return (sequence + (u32)(s->now >> 44)) % s->paths;
}

BALANCER(dates,
	.title = "broken",
	.source = "none",
	.pick = dates_pick);
