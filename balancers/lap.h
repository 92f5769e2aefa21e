/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Laps over all paths, each in an order of its own: for oblivious.c, bitmap.c and those like them.
 *
 *   path = index ^ mask    index = 0, 1, 2, ...; mask is drawn anew when index is 0
 *
 * Both are below the smallest power of 2 that is not below the number of paths. A lap so visits each number
 * below that power once; those that are no path are passed over, fewer than there are paths.
 */
#ifndef TRESSE_LAP_H
#define TRESSE_LAP_H

#include "balancer.h"

struct lap {
	u32 index, mask;
};

/* The smallest power of 2 that is not below `paths`. */
static inline u32 lap_length(u32 paths)
{
	return paths > 1 ? 1u << (32 - __builtin_clz(paths - 1)) : 1;
}

/* The next path of the lap, or the first one of the next lap. */
static inline u32 lap_next(struct spread *s, struct lap *lap)
{
	u32 length = lap_length(s->paths), path;

	do {
		if (!lap->index)
			lap->mask = random_below(s, length);
		path = lap->index ^ lap->mask;
		lap->index = (lap->index + 1) & (length - 1);
	} while (path >= s->paths);
	return path;
}

#endif
