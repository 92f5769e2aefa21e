/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What a controller maximises and the law that its windows follow, as data beside its hooks. No hook reads
 * it, and the kernel's build leaves it out: `tresse optimum` computes with it, and `tresse controller check`
 * compares it with the code. Rates x are a path's, y is the flow's over all its paths; T is a path's RTT, w
 * its window in packets.
 *
 *   CONTROLLER(mine, …,
 *       MAXIMISES({ .utility = UTILITY_TCP, .pooling = POOLED, .standing = STANDING_CLAIMED }),
 *       FOLLOWS({ .growth = GROWTH_SHARED }))
 *
 * Each has entries in braces, of which the first whose `.when` holds counts. A field that is left out has
 * the default stated here.
 */
#ifndef TRESSE_LAW_H
#define TRESSE_LAW_H

/*
 * A number: a constant, value / per, or a parameter's value by its declared unit: thousandths where it is
 * "1/1000", bit/s where it is "kbit/s", hundredths where it is "%".
 */
struct quantity {
	const char *parameter; /* NULL: the constant */
	u64 value, per;        /* 0 / 0: left out */
	u32 halvings;          /* 1: 2 to the power of minus the parameter's value */
};
#define NUMBER(v) { .value = (v), .per = 1 }
#define RATIO(v, by) { .value = (v), .per = (by) }
#define VALUE_OF(name) { .parameter = #name }
#define HALVINGS(name) { .parameter = #name, .halvings = 1 }

/*
 * A number for each of m paths: that of its place, if it is given and not 0, else `each` likewise, else by
 * `rule`: 1 is 1/sqrt(m), 2 is 1/m, 3 is 1/m^2. Without any of them it is 1.
 */
struct by_path {
	const char *places[4]; /* parameters of the first paths */
	struct quantity each, rule;
};

enum utility {
	UTILITY_NONE,
	UTILITY_ALPHA_FAIR, /* x^(1-alpha)/(1-alpha), log x for alpha = 1 (THESIS (2.7)) */
	UTILITY_TCP,        /* its marginal is log(1 + mu/(beta x)), mu a packet in T^2 (THESIS (2.22)) */
	UTILITY_BOS,        /* s log(1 + x/s), s = beta packets in T (XMP (4), (6)) */
};

/* A .tolerance: the source means other signals than those that `tresse controller check` tries. */
#define NOT_JUDGED 0xffffffff

/* How the paths of a flow count. */
enum pooling {
	SEPARATE, /* sum_j c_j U(x_j): each by itself, with its own T */
	POOLED,   /* U(sum_j c_j x_j): one resource, with the least T */
};

/* How much the source says. */
enum standing {
	STANDING_NONE,    /* it names no utility; this one is for comparison */
	STANDING_CLAIMED, /* it names it; the steps to the controller approximate, or are not shown */
	STANDING_PROVED,  /* it derives the controller from it, for its model */
};

/* What the flow pays for its links. */
enum price {
	PRICE_ROUNDS,  /* rounds with a loss, or with a mark if the packets are ECN-capable, once each */
	PRICE_PACKETS, /* each lost packet; rounds with a mark if the packets are ECN-capable */
	PRICE_DELAY,   /* the time that packets wait in queues */
};

/* The unit of x in an alpha-fair utility. */
enum rate_unit {
	UNIT_BIT,    /* bit/s */
	UNIT_PACKET, /* packets/s */
	UNIT_WINDOW, /* packets in the least T */
};

/* weight U, between two bounds of the rate: of y if it is pooled, else of each x. */
struct objective {
	const char *when; /* counts only if this parameter is not 0; NULL: always */
	u32 utility, pooling, standing, price, unit;
	struct quantity alpha;     /* alpha-fair: 1 */
	struct quantity reference; /* alpha-fair: the rate that is the unit; else `.unit` */
	struct quantity beta;      /* TCP: the part of the window that a cut takes, 1/2; BOS: 4 */
	struct quantity weight, scale; /* weight * scale is the factor of U: 1 and 1 */
	struct by_path coefficients; /* c_j */
	struct quantity min_rate, max_rate; /* 0: none */
	const char *source; /* paper and equation; NULL: the controller's */
	const char *caveat; /* what the source leaves out, a sentence; NULL: nothing */
	u32 tolerance; /* by how much the code's mean rate may differ from the one that U asks for at a price,
	                  1/1000; 0: 200; NOT_JUDGED */
};

/* The average motion of a window in congestion avoidance (dw/dt, or dx/dt), without a floor. */
enum law_kind {
	LAW_WINDOW,  /* T dw/dt = growth - cut, as below */
	LAW_UNKNOWN, /* for an entry with `.when`: there the law is not known */
	/* The sliding modes of HOLNET, for the utility, weight and bounds of MAXIMISES: */
	LAW_SLIDING_ALPHA_FAIR, /* dx/dt = g x^alpha (r (1 - cg) - exp(-U')) a round (THESIS (2.19)) */
	LAW_SLIDING_LOG,        /* dx/dt = x/2 (1 - cg - exp(-2/(T y))) a round (THESIS (2.20)) */
	LAW_SLIDING_TCP,        /* dw/dt = (1 + c w/2) (r (1 - cg) - exp(-U')) a round, c of MAXIMISES (THESIS (2.25)) */
};

/* Packets that a round without a signal adds. */
enum growth {
	GROWTH_SEPARATE,      /* weight: Reno's with 1 */
	GROWTH_LINKED,        /* min(w max(w/T^2)/y^2, 1) (RFC 6356) */
	GROWTH_OPPORTUNISTIC, /* (x/y)^2 + a, a from the best and the largest paths (Khalili et al. 2012) */
	GROWTH_BALANCED,      /* (x/y)^2 (1 + a)/2 (4 + a)/5, a = max(x)/x (Peng et al. 2016) */
	GROWTH_SHARED,        /* x/y (THESIS (3.10)) */
	GROWTH_LARGER,        /* max(weight, x/y) (THESIS (4.5)) */
	GROWTH_BY_SHORTEST,   /* w/(y min T) (XMP (9)) */
	GROWTH_BY_WINDOW,     /* w/(sum of w): GROWTH_SHARED, if the RTTs are alike */
};

/* Packets that a signal takes. */
enum cut {
	CUT_PART,     /* cut cuts w/divisor */
	CUT_BALANCED, /* w/2 min(a, 3/2), a = max(x)/x (Peng et al. 2016) */
	CUT_MARKED,   /* w alpha/2, alpha the mean part of marked packets with gain g (RFC 8257) */
};

enum answers {
	ANSWERS_SIGNALS, /* every signal, a mark like a loss */
	ANSWERS_ROUNDS,  /* marks once a round, without growth in it; a loss halves */
};

struct fluid_law {
	const char *when; /* as in struct objective */
	u32 kind, growth, cutting, answers;
	struct by_path weights;       /* of GROWTH_SEPARATE and GROWTH_LARGER */
	struct quantity cut, divisor; /* of CUT_PART: 1 and 2 */
	struct by_path cuts;          /* of CUT_PART: another factor of a path's cut */
	struct quantity gain;         /* g of CUT_MARKED; g of LAW_SLIDING_ALPHA_FAIR at rate `.reference` */
	struct quantity r_max, r_min; /* r of a sliding mode outside of the bounds (THESIS (2.14)): 3 and 0.1 */
	u32 tolerance; /* by how much the code's mean rate may differ from the law's, 1/1000; 0: 200 */
};

/* Reno's utility for comparison: the source has none, but is meant to be fair to TCP. */
#define RENO_INSTEAD(pools, paper)                                             \
	{ .utility = UTILITY_TCP, .pooling = (pools), .source = (paper),       \
	  .caveat = "Reno's utility is used instead: the aim is fairness to TCP." }

/* Proportional fairness for comparison. */
#define LOG_INSTEAD(pays, paper)                                               \
	{ .utility = UTILITY_ALPHA_FAIR, .pooling = POOLED, .price = (pays), .source = (paper), \
	  .caveat = "Proportional fairness is used instead." }

#ifdef TRESSE_BPF
#define MAXIMISES(...) .objectives = 0
#define FOLLOWS(...) .laws = 0
#else
#define MAXIMISES(...)                                                         \
	.objectives = (const struct objective[]){ __VA_ARGS__ },               \
	.objective_count = sizeof((const struct objective[]){ __VA_ARGS__ }) / sizeof(struct objective)
#define FOLLOWS(...)                                                           \
	.laws = (const struct fluid_law[]){ __VA_ARGS__ },                           \
	.law_count = sizeof((const struct fluid_law[]){ __VA_ARGS__ }) / sizeof(struct fluid_law)
#endif

#endif
