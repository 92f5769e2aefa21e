/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Parameters of which each of the first four subflows of a connection may have its own: name_0 to name_3.
 */
#ifndef TRESSE_BY_PLACE_H
#define TRESSE_BY_PLACE_H

#include "controller.h"

/* The value for the subflow's place, if it is given, else `other`. */
#define BY_PLACE(s, name, other)                                               \
	by_place(s, PARAMETER(s, name##_0), PARAMETER(s, name##_1), PARAMETER(s, name##_2), \
		 PARAMETER(s, name##_3), other)

static inline u64 by_place(const struct subflow *s, u64 first, u64 second, u64 third, u64 fourth, u64 other)
{
	u32 place = place_of(s);
	u64 given = place == 0 ? first : place == 1 ? second : place == 2 ? third : place == 3 ? fourth : 0;

	return given ? given : other;
}

#endif
