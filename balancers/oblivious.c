/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Oblivious spraying: each packet takes another path, whatever happens to them.
 *
 * Source: oblivious packet spraying of Ultra Ethernet's simulator (uet-htsim, sim/uec_mp.cpp), second-hand:
 * written from a description of its rules, not from its code. What papers compare with is OPS.
 *
 *   a packet     path = index ^ mask, index + 1; after each lap over the paths a new mask is drawn
 *   feedback     nothing
 *
 * So in a lap each path gets one packet, and no two connections are in step.
 *
 * Deviations:
 *   - any number of paths, not only a power of 2: a lap runs over the next power of 2, and numbers that
 *     are not paths are skipped (lap.h).
 *   - there are no upper bits of an entropy value, drawn once per connection: the balancer only names a
 *     path, from which the host makes an entropy value.
 */
#include "lap.h"

DECLARE_STATE(struct lap)

static u32 oblivious_pick(struct spread *s, u32 sequence)
{
	return lap_next(s, state_of(s));
}

BALANCER(oblivious,
	.title = "oblivious spraying: each packet takes another path, in rounds over all",
	.source = "uet-htsim, sim/uec_mp.cpp (second-hand)",
	WITH_STATE,
	.pick = oblivious_pick);
