/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The weights of the controllers that let each subflow grow by a share of Reno's pace (EWTCP, WMPTCP,
 * WUTCP, H-MPTCP). omega is a weight, at most 1; m counts the subflows of the connection that have an
 * RTT, including the own one.
 */
#ifndef TRESSE_WEIGHTS_H
#define TRESSE_WEIGHTS_H

#include "by_place.h"
#include "controller.h"

/* A weight of 1; weights are in Q48. */
#define FULL_WEIGHT (1ULL << 48)

/* Values of the parameter `rule`. */
enum weight_rule { WEIGHT_ROOT = 1, WEIGHT_COUNT, WEIGHT_SQUARE };

#define RULE_PARAMETER(P, initial)                                             \
	P(rule, initial, 1, 3, "", "weight of each of m subflows; 1: 1/sqrt(m), 2: 1/m, 3: 1/m^2")

/* A weight for each of the first four subflows; `other` is what 0 means. */
#define PLACE_PARAMETERS(P, other)                                             \
	P(omega_0, 0, 0, 1000, "1/1000", "weight of the first subflow; 0: " other) \
	P(omega_1, 0, 0, 1000, "1/1000", "weight of the second subflow; 0: " other) \
	P(omega_2, 0, 0, 1000, "1/1000", "weight of the third subflow; 0: " other) \
	P(omega_3, 0, 0, 1000, "1/1000", "weight of the fourth subflow; 0: " other ", as for all later ones")

/* Their names for MAXIMISES and FOLLOWS. */
#define PLACE_WEIGHTS .places = { "omega_0", "omega_1", "omega_2", "omega_3" }

#define WEIGHT_CAVEAT                                                          \
	"(3.15) approximates for large windows. Rates are proportional to ω if all flows at a link lose at " \
	"once, and to its square root with independent losses."

/* m. */
static inline u32 subflow_count(const struct subflow *s)
{
	u32 m = ZERO;

	FOR_EACH_SUBFLOW(p, s)
		m++;
	return max_u32(s->srtt ? m : m + 1, 1);
}

/* The weight by `rule`; rounded up, so that the packets of exactly 1/omega windows are enough for one
   more, except that 1/sqrt(m) is rounded down in Q30. */
static inline u64 weight_by_rule(const struct subflow *s, u64 rule)
{
	u64 m = subflow_count(s);

	if (rule == WEIGHT_ROOT)
		return (u64)fix_sqrt((1ULL << 60) / m) << 18;
	if (rule == WEIGHT_SQUARE)
		m *= m;
	return (FULL_WEIGHT + m - 1) / m;
}

/* A weight given in thousandths, rounded up. */
static inline u64 weight_of(u64 thousandths)
{
	return ((thousandths << 48) + 999) / 1000;
}

/* The weight of the subflow's place, if it is given, else by `rule`; of PLACE_PARAMETERS. */
#define WEIGHT_BY_PLACE(s, rule) given_weight(s, BY_PLACE(s, omega, 0), rule)

static inline u64 given_weight(const struct subflow *s, u64 given, u64 rule)
{
	return given ? weight_of(given) : weight_by_rule(s, rule);
}

/* omega / w for one packet, Q48; rounded up, and with a weight of 1 exactly Reno's. */
static inline u64 weighted_increase(const struct subflow *s, u64 omega)
{
	return (omega + s->cwnd - 1) / s->cwnd;
}

#endif
