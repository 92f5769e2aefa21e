/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Bitmap: spraying that skips paths on which packets were marked, trimmed or lost.
 *
 * Source: the bitmap of Ultra Ethernet's simulator (uet-htsim, sim/uec_mp.cpp), second-hand: written from a
 * description of its rules, not from its code; the idea is that of STrack (Le et al., arXiv:2407.15266),
 * where ECN says which paths to leave out.
 *
 *   ECN, TRIM, TIMEOUT   penalty += 1, 4, 15 of the packet's path, at most 15
 *   a packet             takes the next path of the lap without a penalty; of those that are skipped,
 *                        the first one loses 1
 *   GOOD                 nothing: a penalty goes away only by being skipped
 *
 * Deviations:
 *   - what happens if every path has a penalty is not described: the next one loses 1 and is taken.
 *   - any number of paths, as with oblivious.c, whose laps these are (lap.h).
 */
#include "penalties.h"

#define PARAMETERS(P) PENALTY_PARAMETERS(P)
DECLARE_PARAMETERS

DECLARE_STATE(struct penalties)
DECLARE_PATHS(u8)

static u8 *penalty_of(const struct spread *s, u32 path)
{
	return path_of(s, path);
}

static void bitmap_feedback(struct spread *s, u32 path, enum feedback what)
{
	if (what != GOOD)
		penalties_add(s, state_of(s), path,
			      what == ECN ? PARAMETER(s, ecn) :
			      what == TRIM ? PARAMETER(s, trim) : PARAMETER(s, timeout));
}

static u32 bitmap_pick(struct spread *s, u32 sequence)
{
	return penalties_pick(s, state_of(s));
}

BALANCER(bitmap,
	.title = "bitmap: spraying that skips paths with penalties for marks, trims and timeouts",
	.source = "uet-htsim, sim/uec_mp.cpp (second-hand); STrack, arXiv:2407.15266",
	WITH_PARAMETERS,
	WITH_STATE,
	WITH_PATHS,
	.feedback = bitmap_feedback,
	.pick = bitmap_pick);
