/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * BOS, Buffer Occupancy Suppression: ECN with a constant cut, on a single path.
 *
 * Source: XMP §2.1, Algorithm 1; catalogue S4. w is the window:
 *
 *   end of a round         w += 1 (delta = 1), unless packets of a window that was cut are outstanding
 *   slow start             w += 1 for each packet delivered
 *   mark, once a round     w -= max(w/beta, 1), not below 2 packets; in slow start the window stays
 *                          and slow start ends
 *   loss                   w  = w/2
 *
 * It is XMP without coupling; with several subflows each is a separate BOS. The deviations from
 * Algorithm 1 are those declared in xmp.c.
 *
 * `halving` is the same with beta = 2, the "halving cwnd" of XMP's Figure 1 (c) and (d).
 */
#include "bos.h"

#define PARAMETERS(P) \
	P(beta, 4, 2, 64, "", "a mark cuts cwnd by cwnd / beta (XMP eq. (1): K >= BDP / (beta - 1))")
DECLARE_PARAMETERS

DECLARE_STATE(struct bos)

static void bos_on_ack(struct subflow *s, const struct ack *a)
{
	if (a->new_round && bos_earns(s))
		state_of(s)->pending = BOS_ONE_PACKET;
}

static void bos_on_grow(struct subflow *s, const struct ack *a)
{
	bos_grow(s, state_of(s), a->delivered);
}

static u32 bos_cut(struct subflow *s, enum cause cause)
{
	return bos_congestion(s, state_of(s), cause, (u32)PARAMETER(s, beta));
}

static u32 halving_cut(struct subflow *s, enum cause cause)
{
	return bos_congestion(s, state_of(s), cause, 2);
}

#define BOS_CAVEAT "The price is the probability that a round is marked; RTTs are constant."

CONTROLLER(bos,
	.title = "BOS: one packet per round and a constant cut on marks; XMP on a single path",
	.source = "XMP §2.1, Alg. 1",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	MAXIMISES({ .utility = UTILITY_BOS, .beta = VALUE_OF(beta), .standing = STANDING_PROVED,
		    .source = "XMP (2)-(4)", .caveat = BOS_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_BY_SHORTEST, .divisor = VALUE_OF(beta), .answers = ANSWERS_ROUNDS }),
	.ack = bos_on_ack,
	.grow = bos_on_grow,
	.congestion = bos_cut);

CONTROLLER(halving,
	.title = "BOS with beta = 2: half the window on marks",
	.source = "XMP §2.1, Fig. 1 (c) and (d)",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.min_cwnd = 2,
	MAXIMISES({ .utility = UTILITY_BOS, .beta = NUMBER(2), .standing = STANDING_PROVED,
		    .source = "XMP (2)-(4)", .caveat = BOS_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_BY_SHORTEST, .answers = ANSWERS_ROUNDS }),
	.ack = bos_on_ack,
	.grow = bos_on_grow,
	.congestion = halving_cut);
