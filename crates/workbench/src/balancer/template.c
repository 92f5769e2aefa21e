/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * NAME: what it does, in one line.
 *
 * Source: paper and section.
 *
 *   a packet             takes the next path that does not rest, or the next one if all rest
 *   ECN, TRIM, TIMEOUT   the packet's path rests for `rest`
 *   GOOD                 nothing
 *
 * Deviations: none. (What the paper leaves open and you decided, and why.)
 */
#include "balancer.h" /* the contract; or "lap.h", "penalties.h" for what balancers share */

/* Whole numbers: name, default, smallest, largest, unit, meaning. Read as PARAMETER(s, rest). */
#define PARAMETERS(P) P(rest, 100, 0, 1000000, "us", "how long a path rests after bad news of it")
DECLARE_PARAMETERS

/* What a connection remembers, all 0 at first (else set it in an `init` hook): state_of(s). */
struct NAME_state {
	u32 next;
};
DECLARE_STATE(struct NAME_state)

/* What it remembers of each path, all 0 at first: path_of(s, path). */
struct NAME_path {
	u64 since; /* ns; only the difference of two times has a meaning */
	u8 resting;
};
DECLARE_PATHS(struct NAME_path)

static u32 rests(const struct spread *s, u32 path)
{
	const struct NAME_path *p = path_of(s, path);

	return p->resting && s->now - p->since < PARAMETER(s, rest) * 1000;
}

/* Once, before anything else: not all connections begin on the same path. */
static void NAME_init(struct spread *s)
{
	state_of(s)->next = random_below(s, s->paths);
}

/* What became of a packet that took `path`. */
static void NAME_feedback(struct spread *s, u32 path, enum feedback what)
{
	if (what == GOOD)
		return;
	path_of(s, path)->resting = 1;
	path_of(s, path)->since = s->now;
}

static u32 next_path(struct spread *s)
{
	u32 path = state_of(s)->next;

	state_of(s)->next = (path + 1) % s->paths;
	return path;
}

/* The path of the next packet, below s->paths. */
static u32 NAME_pick(struct spread *s, u32 sequence)
{
	for (u32 i = 0; i < s->paths; i++) {
		u32 path = next_path(s);

		if (!rests(s, path))
			return path;
	}
	return next_path(s);
}

/* 0: no packet takes it now, as long as there is another. Writes nothing. */
static u32 NAME_alive(const struct spread *s, u32 path)
{
	return !rests(s, path);
}

/* From this every host, list and page is fed. A hook that is not needed is left out, but for `pick`. */
BALANCER(NAME,
	.title = "NAME: what it does, in one line",
	.source = "paper and section",
	/* .flags = FLOW_LEVEL or RECYCLES, if it stays on one path, or prefers those that were good */
	WITH_PARAMETERS,
	WITH_STATE,
	WITH_PATHS,
	.init = NAME_init,
	.feedback = NAME_feedback,
	.pick = NAME_pick,
	.alive = NAME_alive);
