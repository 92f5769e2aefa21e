/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Divides by the packets that it knows to be good. */
#include "balancer.h"

DECLARE_STATE(u64)

static void divides_feedback(struct spread *s, u32 path, enum feedback what)
{
	*state_of(s) += what == GOOD;
}

static u32 divides_pick(struct spread *s, u32 sequence)
{
	volatile u64 good = *state_of(s);

	return sequence ? (u32)(sequence / good) % s->paths : 0;
}

BALANCER(divides,
	.title = "broken",
	.source = "none",
	WITH_STATE,
	.feedback = divides_feedback,
	.pick = divides_pick);
