/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * AMP, Adaptive Multi-Path: a constant cut on marks, an increase over the whole connection, and one
 * subflow alone under incast.
 *
 * Source: Kheirkhah and Lee, IFIP Networking 2019, in the form of its author's public ns-3 code
 * (mkheirkhah/amp); catalogue C. k runs over the subflows of the connection, r is the own one:
 *
 *   congestion avoidance   w_r += 1 / sum_k w_k   for each packet delivered
 *   mark, once a round     w_r = w_r (1 - 1/beta), not below 1 packet
 *   loss                   w_r = w_r/2, not below 1 packet
 *   incast                 all subflows at the floor for incast_rounds rounds: new data goes on one
 *                          subflow alone, until clean_rounds of its rounds in succession were clean
 *
 * A round is at the floor if it ends with a window of 1 packet, and clean if none of its packets was
 * marked and it ends above the floor; it is neither if it ends in the repair of a loss. The word holds a
 * subflow's rounds at the floor (bits 0-31) and whether it is the one that continues alone (bit 32). The
 * first controller that sees every subflow at the floor for long enough claims that role, with the wish
 * `alone`. It gives it up after its clean rounds, and on a timeout, because its path may be dead. Two
 * subflows whose ACKs come at the same instant on two processors may both claim it: then both continue.
 *
 * beta = 4 is the author's gamma / beta = 1/4. The cut is rounded up to whole packets, so that a
 * window of 2 or 3 reaches the floor; a window in bytes loses its last whole packet there too.
 *
 * Deviations from the author's code:
 *   -   - whichever subflow notices continues alone; there it is always the first one, which alone counts.
 *   - each subflow counts its own rounds at the floor; there it is the first one's rounds in which all
 *     were at the floor, so the mode began on its schedule.
 *   -   - a subflow without an RTT sample does not delay the mode; there all had to be established.
 *   - a loss halves the window (catalogue, "unless stated"); slow start is each subflow's own. A drop in
 *     the host's own queue counts as a mark.
 * Linux's scheduler does not learn of `alone`: there the mode has no effect, and the subflows stay at the
 * floor.
 */
#include "controller.h"

#define PARAMETERS(P)                                                          \
	P(beta, 4, 2, 64, "", "a mark cuts cwnd by cwnd / beta")               \
	P(incast_rounds, 10, 1, 1000, "round", "one subflow continues alone after all were this long at the floor") \
	P(clean_rounds, 8, 1, 1000, "round", "all subflows continue after this many unmarked rounds")
DECLARE_PARAMETERS

#define FLOOR 1
#define CLAIM (1ULL << 32) /* in the word, above the rounds at the floor */

struct amp {
	u64 credit; /* fraction of a packet still to add, Q48 */
	u32 marked; /* in this round */
	u32 clean;  /* rounds in succession */
};
DECLARE_STATE(struct amp)

/* 1 / sum_k w_k, Q48; a connection of one subflow, or one that knows no RTT, grows as Reno's. */
static u64 amp_increase(const struct subflow *s)
{
	u64 total = 0;

	/* In Q36, below 2^62, so that the kernel's verifier gives up to bound the sum, turn by turn. */
	if (s->srtt) {
		FOR_EACH_SUBFLOW(p, s)
			total += (u64)p.cwnd << 36;
	}
	total >>= 36;
	total = fix_select(fix_less(total, s->cwnd), s->cwnd, total);
	return ((1ULL << 48) + total - 1) / total;
}

/* Whether every subflow has been at the floor long enough, and none goes on alone. */
static u32 is_incast(const struct subflow *s)
{
	u64 wanted = PARAMETER(s, incast_rounds);
	u64 count = ZERO, others = ZERO, claims = ZERO;

	FOR_EACH_SUBFLOW(p, s) {
		count++;
		others += fix_less((u32)p.word, wanted);
		claims += p.word >> 32;
	}
	return count > 1 && !others && !claims;
}

/* Ends the mode, if there is one, and the count towards the next. */
static void stay_together(struct subflow *s)
{
	s->alone = 0;
	s->word = 0;
	state_of(s)->clean = 0;
}

static void end_round(struct subflow *s)
{
	struct amp *m = state_of(s);
	u32 repairs = s->state == RECOVERY || s->state == LOSS;

	if (s->word >= CLAIM) {
		m->clean = m->marked || repairs || s->cwnd <= FLOOR ? 0 : m->clean + 1;
		if (m->clean >= PARAMETER(s, clean_rounds))
			stay_together(s);
		return;
	}
	if (repairs || s->cwnd > FLOOR)
		s->word = 0;
	else if ((u32)s->word < PARAMETER(s, incast_rounds))
		s->word++;
	if (s->word && is_incast(s)) {
		s->alone = 1;
		s->word |= CLAIM;
	}
}

static void amp_ack(struct subflow *s, const struct ack *a)
{
	struct amp *m = state_of(s);

	if (a->new_round) {
		end_round(s);
		m->marked = 0;
	}
	m->marked |= a->marked;
}

static void amp_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, amp_increase(s));
}

static u32 amp_congestion(struct subflow *s, enum cause cause)
{
	u32 beta = (u32)PARAMETER(s, beta);

	state_of(s)->credit = 0;
	if (cause == LOSS_EVENT)
		return max_u32(s->cwnd / 2, FLOOR);
	return max_u32(s->cwnd - (s->cwnd + beta - 1) / beta, FLOOR);
}

static void amp_timeout(struct subflow *s)
{
	stay_together(s);
	state_of(s)->marked = 0;
}

CONTROLLER(amp,
	.title = "AMP: an increase over all windows, a constant cut, one subflow alone under incast",
	.source = "Kheirkhah and Lee, IFIP Networking 2019",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,
	.claims = CLAIM_NOT_ABOVE_RENO | CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = FLOOR,
	WITH_PARAMETERS,
	MAXIMISES(RENO_INSTEAD(POOLED, "Kheirkhah and Lee (2019)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.ack = amp_ack,
	.grow = amp_grow,
	.congestion = amp_congestion,
	.timeout = amp_timeout);
