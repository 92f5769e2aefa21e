/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * REPS: a path on which a packet arrived unmarked is taken once more; otherwise any path.
 *
 * Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure
 * Mitigation", arXiv:2407.21625; constants of Ultra Ethernet's simulator (uet-htsim, sim/uec_mp.cpp),
 * second-hand: written from a description of the rules, not from its code.
 *
 * The last 8 paths that were good are in a ring; a path is fresh until it is taken.
 *
 *   GOOD             its path goes into the ring, fresh, replacing the oldest one
 *   ECN, TRIM        nothing: their paths are not taken again, unless by chance
 *   TIMEOUT          a path has failed: the paths are frozen for 10 ms
 *   a packet         the fresh path that has waited longest; if none is fresh, any path at random, but while
 *                    frozen the ring's paths in turn, and no others
 *   10 ms later      the ring is empty, and 16 packets take paths at random before any is taken again
 *
 * A missing packet means a broken path only if switches trim: where queues drop, congestion freezes the
 * paths too.
 *
 * Left open by the description, and decided here:
 *   - a TIMEOUT while paths are frozen, or while the 16 packets are not yet sent, changes nothing: it
 *     belongs to the same failure.
 *   - a failed path stays in the ring if it is there: new ones push it out soon.
 *   - with an empty ring nothing is known to be good, and a frozen connection takes any path.
 */
#include "balancer.h"

#define PARAMETERS(P)                                                          \
	P(freeze, 10000, 0, 10000000, "us", "how long a timeout freezes the paths") \
	P(explore, 16, 0, 65536, "pkt", "packets that take random paths after that")
DECLARE_PARAMETERS

#define RING 8

struct reps {
	u64 frozen_at;
	u32 frozen;    /* 1: since frozen_at */
	u32 explore;   /* packets yet to take paths at random */
	u32 next;      /* where in the ring the next good path goes */
	u32 fresh;     /* how many of the last ones are fresh */
	u32 known;     /* how many there are */
	u32 turn;      /* where the next path lies that is taken while frozen, and not fresh */
	u16 ring[RING];
};
DECLARE_STATE(struct reps)

static u32 freeze_is_over(const struct spread *s)
{
	return s->now - state_of(s)->frozen_at >= PARAMETER(s, freeze) * 1000;
}

/* Whether the ring's paths are all that may be taken. */
static u32 is_held(const struct spread *s)
{
	return state_of(s)->frozen && state_of(s)->known && !freeze_is_over(s);
}

static void thaw(struct spread *s)
{
	struct reps *r = state_of(s);

	if (!r->frozen || !freeze_is_over(s))
		return;
	r->frozen = 0;
	r->next = 0;
	r->fresh = 0;
	r->known = 0;
	r->explore = (u32)PARAMETER(s, explore);
}

static void reps_feedback(struct spread *s, u32 path, enum feedback what)
{
	struct reps *r = state_of(s);

	thaw(s);
	if (what == GOOD) {
		r->ring[r->next] = (u16)path;
		r->next = (r->next + 1) % RING;
		r->fresh = min_u32(r->fresh + 1, RING);
		r->known = min_u32(r->known + 1, RING);
	} else if (what == TIMEOUT && !r->frozen && !r->explore) {
		r->frozen = 1;
		r->frozen_at = s->now;
		r->turn = r->known < RING ? 0 : r->next; /* the oldest one */
	}
}

static u32 reps_pick(struct spread *s, u32 sequence)
{
	struct reps *r = state_of(s);
	u32 path;

	thaw(s);
	if (r->explore) {
		r->explore--;
		return random_below(s, s->paths);
	}
	if (r->fresh)
		return r->ring[(r->next + RING - r->fresh--) % RING];
	if (is_held(s)) {
		path = r->ring[r->turn];
		r->turn = (r->turn + 1) % r->known;
		return path;
	}
	return random_below(s, s->paths);
}

static u32 reps_alive(const struct spread *s, u32 path)
{
	const struct reps *r = state_of(s);

	if (!is_held(s))
		return 1;
	for (u32 i = 0; i < RING; i++)
		if (i < r->known && r->ring[i] == path)
			return 1;
	return 0;
}

BALANCER(reps,
	.title = "REPS: paths that were good are reused, otherwise any; a timeout freezes them",
	.source = "Bonato et al., arXiv:2407.21625; uet-htsim, sim/uec_mp.cpp (second-hand)",
	.flags = RECYCLES,
	WITH_PARAMETERS,
	WITH_STATE,
	.feedback = reps_feedback,
	.pick = reps_pick,
	.alive = reps_alive);
