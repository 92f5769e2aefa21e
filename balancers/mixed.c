/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Mixed: a path on which a packet arrived unmarked is taken once more; otherwise bitmap's next path.
 *
 * Source: `mixed` of Ultra Ethernet's simulator (uet-htsim, sim/uec_mp.cpp), second-hand: written from a
 * description of its rules, not from its code. Its first half is an earlier REPS (Bonato et al.,
 * arXiv:2407.21625), its second half bitmap.c.
 *
 *   the first window     each packet takes the next path of the lap (lap.h)
 *   GOOD                 its path joins the end of a queue
 *   ECN, TRIM, TIMEOUT   penalty += 1, 4, 15 of its path, at most 15 (penalties.h)
 *   a packet             the path at the head of the queue; if it is empty, bitmap's: the next path of the lap
 *                        without a penalty
 *
 * The first window is over when as many packets were sent as the window has at that moment.
 *
 * Deviations:
 *   - the first window uses laps in random order, not 0, 1, 2, ...: otherwise all connections would begin
 *     on the same path.
 *   - the queue holds as many paths as there are; when it is full, the one at its head makes room.
 */
#include "penalties.h"

#define PARAMETERS(P) PENALTY_PARAMETERS(P)
DECLARE_PARAMETERS

struct mixed {
	struct penalties penalties;
	u32 sent;    /* packets of the first window */
	u32 is_over; /* 1: the first window */
	u32 head;    /* of the queue */
	u32 length;
};
DECLARE_STATE(struct mixed)

struct mixed_path {
	u16 queued; /* a place of the queue: no business of this path */
	u8 penalty;
};
DECLARE_PATHS(struct mixed_path)

static u8 *penalty_of(const struct spread *s, u32 path)
{
	return &path_of(s, path)->penalty;
}

static void push(struct spread *s, struct mixed *m, u32 path)
{
	path_of(s, (m->head + m->length) % s->paths)->queued = (u16)path;
	if (m->length < s->paths)
		m->length++;
	else
		m->head = (m->head + 1) % s->paths;
}

static u32 pop(struct spread *s, struct mixed *m)
{
	u32 path = path_of(s, m->head)->queued;

	m->head = (m->head + 1) % s->paths;
	m->length--;
	return path;
}

static void mixed_feedback(struct spread *s, u32 path, enum feedback what)
{
	struct mixed *m = state_of(s);

	if (what == GOOD)
		push(s, m, path);
	else
		penalties_add(s, &m->penalties, path,
			      what == ECN ? PARAMETER(s, ecn) :
			      what == TRIM ? PARAMETER(s, trim) : PARAMETER(s, timeout));
}

static u32 mixed_pick(struct spread *s, u32 sequence)
{
	struct mixed *m = state_of(s);

	m->is_over |= m->sent >= s->window;
	if (!m->is_over) {
		m->sent++;
		return lap_next(s, &m->penalties.lap);
	}
	return m->length ? pop(s, m) : penalties_pick(s, &m->penalties);
}

BALANCER(mixed,
	.title = "mixed: paths that were good are reused, otherwise bitmap's next path",
	.source = "uet-htsim, sim/uec_mp.cpp (second-hand); Bonato et al., arXiv:2407.21625",
	.flags = RECYCLES,
	WITH_PARAMETERS,
	WITH_STATE,
	WITH_PATHS,
	.feedback = mixed_feedback,
	.pick = mixed_pick);
