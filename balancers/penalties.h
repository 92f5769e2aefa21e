/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Penalties, for bitmap.c and mixed.c, which say with penalty_of where a path's is kept.
 *
 *   ECN, TRIM, TIMEOUT   penalty += 1, 4, 15, at most 15
 *   a packet             takes the next path of the lap (lap.h) without a penalty; of those that are passed
 *                        over, the first one loses 1. If every path has a penalty, the first one loses 1
 *                        and is taken.
 */
#ifndef TRESSE_PENALTIES_H
#define TRESSE_PENALTIES_H

#include "lap.h"

#define PENALTY_MOST 15

#define PENALTY_PARAMETERS(P)                                                  \
	P(ecn, 1, 0, PENALTY_MOST, "", "the penalty of a marked packet")       \
	P(trim, 4, 0, PENALTY_MOST, "", "the penalty of a trimmed packet")     \
	P(timeout, 15, 0, PENALTY_MOST, "", "the penalty of a packet that did not arrive")

struct penalties {
	struct lap lap;
	u32 count; /* paths with a penalty */
};

/* Where the penalty of a path is kept. */
static u8 *penalty_of(const struct spread *s, u32 path);

static inline void penalties_add(const struct spread *s, struct penalties *all, u32 path, u64 more)
{
	u8 *penalty = penalty_of(s, path);

	all->count += !*penalty && more;
	*penalty = (u8)min_u32(*penalty + (u32)more, PENALTY_MOST);
}

static inline void penalties_lower(const struct spread *s, struct penalties *all, u32 path)
{
	all->count -= !--*penalty_of(s, path);
}

static inline u32 penalties_pick(struct spread *s, struct penalties *all)
{
	u32 path = lap_next(s, &all->lap);
	u32 every = all->count == s->paths;

	if (!*penalty_of(s, path))
		return path;
	penalties_lower(s, all, path);
	if (every)
		return path;
	/* One without a penalty is left: it comes before the end of the next lap. */
	do
		path = lap_next(s, &all->lap);
	while (*penalty_of(s, path));
	return path;
}

#endif
