/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * MRC: marked and trimmed paths are avoided for a while; one that loses a packet is retired, then probed.
 *
 * Source: "Resilient AI Supercomputer Networking using MRC and SRv6", arXiv:2605.04333; Multipath Reliable
 * Connection 1.0, Open Compute Project 2026. Second-hand: from descriptions of both, which agree in this:
 * another entropy value for each packet, ECN and trims move load to others, a packet that is lost altogether
 * means a broken path, whose value is retired at once and probed later.
 *
 *   ECN, TRIM    the path is avoided for `avoid` from now on
 *   TIMEOUT      the path is retired
 *   a packet     the next path of the lap (lap.h) that is neither avoided nor retired
 *   probe        a path that was retired `probe` ago gets one packet, whose fate decides. GOOD: the path
 *                is like any other. ECN or TRIM: it is avoided. TIMEOUT, or nothing for `probe`: it
 *                stays retired, to be probed again
 *
 * Left open by the descriptions, and decided here:
 *   - how long: avoid = 20 us, about a round trip in such a fabric, and probe = 1 ms, are guesses.
 *   - a probe is a data packet, not a separate one.
 *   - GOOD for an avoided path changes nothing: it may belong to an earlier packet.
 *   - if no path is left, the next avoided one is taken; if all are retired, the next of them, as a
 *     probe.
 *   - an MRC connection has a few hundred values at a time, and replaces bad ones by new ones; here a
 *     connection has the same paths from beginning to end.
 *   - planes are not known here: values are not split over them.
 */
#include "lap.h"

#define PARAMETERS(P)                                                          \
	P(avoid, 20, 0, 10000000, "us", "how long a mark or a trim keeps packets off its path") \
	P(probe, 1000, 1, 10000000, "us", "how long a path is retired before it is probed")
DECLARE_PARAMETERS

DECLARE_STATE(struct lap)

enum condition { USABLE, AVOIDED, RETIRED };

struct mrc_path {
	u64 since;    /* when it was avoided or retired, or probed last */
	u8 condition; /* enum condition */
	u8 probed;    /* retired, and a probe is on its way */
};
DECLARE_PATHS(struct mrc_path)

/* Whether what keeps packets off the path is over: a retired one may be probed then. */
static u32 is_over(const struct spread *s, const struct mrc_path *p)
{
	u64 wait = p->condition == RETIRED ? PARAMETER(s, probe) :
		   p->condition == AVOIDED ? PARAMETER(s, avoid) : 0;

	return s->now - p->since >= wait * 1000;
}

static void enter(const struct spread *s, struct mrc_path *p, enum condition condition)
{
	p->condition = condition;
	p->since = s->now;
	p->probed = 0;
}

static void mrc_feedback(struct spread *s, u32 path, enum feedback what)
{
	struct mrc_path *p = path_of(s, path);

	if (what == TIMEOUT)
		enter(s, p, RETIRED);
	else if (p->condition == RETIRED && !p->probed)
		return; /* of a packet from before */
	else if (what != GOOD)
		enter(s, p, AVOIDED);
	else if (p->condition == RETIRED)
		enter(s, p, USABLE);
}

static u32 take(struct spread *s, u32 path)
{
	struct mrc_path *p = path_of(s, path);

	if (p->condition == RETIRED) {
		p->since = s->now;
		p->probed = 1;
	} else if (is_over(s, p)) {
		p->condition = USABLE;
	}
	return path;
}

static u32 mrc_pick(struct spread *s, u32 sequence)
{
	struct lap *lap = state_of(s), behind = *lap;
	u32 best = 0, worst = RETIRED + 1; /* the best that was met, and how bad it is */

	/* So many steps visit each path, wherever in a lap they begin. */
	for (u32 i = 1; i < 2 * s->paths; i++) {
		u32 path = lap_next(s, lap);
		const struct mrc_path *p = path_of(s, path);

		if (is_over(s, p))
			return take(s, path);
		if (p->condition < worst) {
			best = path;
			worst = p->condition;
			behind = *lap;
		}
	}
	*lap = behind;
	return take(s, best);
}

static u32 mrc_alive(const struct spread *s, u32 path)
{
	const struct mrc_path *p = path_of(s, path);

	return p->condition != RETIRED || is_over(s, p);
}

BALANCER(mrc,
	.title = "MRC: marked paths are avoided for a while; one that loses a packet is retired, then probed",
	.source = "arXiv:2605.04333; MRC 1.0, Open Compute Project (second-hand)",
	WITH_PARAMETERS,
	WITH_STATE,
	WITH_PATHS,
	.feedback = mrc_feedback,
	.pick = mrc_pick,
	.alive = mrc_alive);
