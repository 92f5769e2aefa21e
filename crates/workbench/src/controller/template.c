/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * NAME: what it does, in one line.
 *
 * Source: paper and equation.
 *
 * w is the window in packets, k runs over the subflows of the connection, r is the own one:
 *
 *   end of a round         d_r  = packets delivered in it, published to the siblings
 *   congestion avoidance   w_r += (d_r / sum_k d_k) / w_r for each packet delivered
 *   loss or mark           w_r -= w_r cut/100, not below 2 packets
 *   timeout                d_r  = 0 until the next round has ended
 *
 * Together the subflows gain a packet a round, as one TCP does. Slow start is each subflow's own.
 *
 * Deviations: none. (What the paper leaves open and you decided, and why.)
 */
#include "controller.h" /* the contract; or "coupled.h", "dctcp_alpha.h" for what controllers share */

/* Whole numbers: name, default, smallest, largest, unit, meaning. Read as PARAMETER(s, cut). */
#define PARAMETERS(P) P(cut, 50, 1, 90, "%", "a congestion takes this part of the window")
DECLARE_PARAMETERS

/* The floor of a cut, packets. */
#define LEAST 2

/* What a subflow remembers, 72 bytes at most, all 0 at first (else set it in an `init` hook). */
struct NAME_state {
	u64 credit;    /* fraction of a packet still to add, Q48: the integer v stands for v / 2^48 */
	u32 delivered; /* in this round */
};
DECLARE_STATE(struct NAME_state)

/* What a packet delivered adds to the window, Q48 packets. */
static u64 NAME_increase(const struct subflow *s)
{
	u64 reno = reno_increase(s); /* 1/w */
	u64 total = 0, share;

	/* The own subflow and its siblings, each as a struct peer: cwnd, srtt, word. Without branches
	   inside, for the kernel's verifier follows both ways of each. */
	FOR_EACH_SUBFLOW(p, s)
		total += p.word;
	/* Before its first round and its first RTT sample the own subflow is not in the sum, and a
	   divisor must not be 0. */
	if (!s->word || total < s->word)
		return reno;
	/* d is below 2^32, so the shift and the sum of 64 stay below 2^63; the share is at most 1. */
	share = (s->word << 31) / total;
	return fix_mul_shr(reno, share, 31);
}

/* Every ACK, in every state, before anything else. Keeps the books; leaves the window alone. */
static void NAME_ack(struct subflow *s, const struct ack *a)
{
	struct NAME_state *own = state_of(s);

	if (a->new_round) {
		s->word = own->delivered; /* the siblings see it as p.word */
		own->delivered = 0;
	}
	own->delivered += a->delivered;
}

/* An ACK that may raise the window: the only hook that moves cwnd. */
static void NAME_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered); /* the packets beyond ssthresh */

	if (left)
		raise_window(s, &state_of(s)->credit, left, NAME_increase(s));
}

/* Once a window, after a loss or (with SIGNAL_ECN) a mark: returns the window after the cut. */
static u32 NAME_congestion(struct subflow *s, enum cause cause)
{
	state_of(s)->credit = 0;
	return max_u32(s->cwnd * (100 - (u32)PARAMETER(s, cut)) / 100, LEAST);
}

/* After congestion(LOSS_EVENT), if it was a timeout: what was counted is of no use any more. */
static void NAME_timeout(struct subflow *s)
{
	state_of(s)->delivered = 0;
	s->word = 0;
}

/* From this every host, list and page is fed. A hook that is not needed is left out. */
CONTROLLER(NAME,
	.title = "NAME: what it does, in one line",
	.source = "paper and equation",
	.signals = SIGNAL_LOSS, /* | SIGNAL_ECN | SIGNAL_CE_EXACT, if marks count */
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS, /* held to by `tresse controller check` */
	.coupled = 1,
	.min_cwnd = LEAST,
	/* .single = "reno", if with one subflow and its defaults it is Reno: checked too */
	WITH_PARAMETERS,
	/* Its utility and its law (law.h): an optimum to compare with; held to by `tresse controller check`. */
	MAXIMISES({ .utility = UTILITY_TCP, .beta = VALUE_OF(cut), .pooling = POOLED,
		    .standing = STANDING_CLAIMED }),
	FOLLOWS({ .growth = GROWTH_BY_WINDOW, .cut = VALUE_OF(cut), .divisor = NUMBER(1) }),
	.ack = NAME_ack,
	.grow = NAME_grow,
	.congestion = NAME_congestion,
	.timeout = NAME_timeout);
