/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * OLIA, the Opportunistic Linked Increases: LIA's Pareto-optimal successor.
 *
 * Source: Khalili et al., CoNEXT 2012, as in THESIS Table 3.1, where alpha is called delta and left
 * undefined; its definition is that of the old MPTCP kernel; catalogue S13. T is the smoothed RTT, k
 * runs over the n subflows of the connection that have one, r is the own one:
 *
 *   quality                l_k = max(delivered since the last loss, delivered between the last two
 *                          losses), in packets
 *   sets                   B = the subflows of the largest l/T^2, M = those of the largest w
 *   congestion avoidance   w_r += (w_r/T_r^2) / (sum_k w_k/T_k)^2 + alpha_r/w_r
 *                          for each packet delivered
 *                          alpha_r = 1/(n |B\M|) in B\M and -1/(n |M|) in M if B\M has any, else 0
 *   loss or mark           w_r = w_r/2, not below 2 packets (the kernel's tcp_reno_ssthresh)
 *
 * EXCEPTION to the contract: `grow` may lower the window. If alpha_r is negative and the first term
 * small, the sum is negative: this is how OLIA takes a window away from a path that is worse than others.
 * It does not take it below 2 packets (in the kernel 1).
 *
 * l/T^2 is compared exactly, by cross multiplication in 128 bits, so that ties are ties. The first
 * term is exact to 1e-5 for RTTs between 5 us and 1 s, and every term to its last digit, 2^-48
 * packets. Slow start is each subflow's own.
 *
 * Deviations, with the reasons:
 *   - congestion avoidance, once begun, lasts until the next congestion. Otherwise alpha, which takes a
 *     window below ssthresh, would be undone by the next packet's slow start (as in the old kernel).
 *   - a delivered packet adds at most one packet, slow start's pace; only a window of 1 would get more.
 *   - l counts packets, not bytes. A mark ends its interval like a loss (as in the kernel).
 *   - a window in recovery counts as it is; the kernel used ssthresh, which siblings do not see here.
 *   - packets are counted, not calls (the old MPTCP kernel counted calls, and overflowed above some
 *     10^5 packets).
 */
#include "coupled.h"

#define ONE_PACKET (1ULL << 48)

struct olia {
	u64 credit;   /* fraction of a packet still to add, Q48 */
	u64 since;    /* packets delivered since the last loss */
	u64 between;  /* packets delivered between the last two losses */
	u64 avoiding; /* congestion avoidance has begun */
};
DECLARE_STATE(struct olia)

/* What a packet is worth, Q48 packets: up - down. */
struct change {
	u64 up, down;
};

/* 1 if l/rtt^2 > m/other^2, exactly, else 0: l other^2 and m rtt^2 are below 2^118. */
static u64 is_better(u64 l, u64 rtt, u64 m, u64 other)
{
	u64 a = other * other, b = rtt * rtt, low = ~0ULL >> 1;
	u64 left = fix_mul_shr(l, a, 63), right = fix_mul_shr(m, b, 63);
	u64 more = fix_less(right, left), less = fix_less(left, right);

	/* If the bits from the 63rd on are equal, the low 63 decide. */
	return more | (fix_less(m * b & low, l * a & low) & ~less);
}

static struct change olia_change(const struct subflow *s)
{
	struct change change = { reno_increase(s), 0 };
	u64 best = s->word, total = 0;
	u32 best_rtt = s->srtt, base = s->srtt, widest = s->cwnd;
	u32 n = ZERO, wide = ZERO, outdone = ZERO; /* outdone: |B\M| */

	if (!s->srtt)
		return change; /* no RTT sample: nothing to compare by */
	{
		FOR_EACH_SUBFLOW(p, s) {
			u64 better = is_better(p.word, p.srtt, best, best_rtt);

			best = fix_select(better, p.word, best);
			best_rtt = (u32)fix_select(better, p.srtt, best_rtt);
			base = (u32)fix_select(fix_less(p.srtt, base), p.srtt, base);
			widest = (u32)fix_select(fix_less(widest, p.cwnd), p.cwnd, widest);
		}
	}
	{
		FOR_EACH_SUBFLOW(p, s) {
			u32 narrow = (u32)fix_less(p.cwnd, widest);

			total += p.cwnd * rtt_ratio(base, p.srtt);
			n++;
			wide += 1 - narrow;
			outdone += narrow & ~(u32)is_better(best, best_rtt, p.word, p.srtt);
		}
	}
	if (!total || is_alone(s, base, total))
		return change; /* the siblings could not be read, or there is none: Reno's to the last digit */
	change.up = share_increase(s, base, total);
	if (!outdone || !wide)
		return change;
	if (s->cwnd == widest)
		change.down = ONE_PACKET / ((u64)n * wide * s->cwnd);
	else if (!is_better(best, best_rtt, s->word, s->srtt))
		change.up += ONE_PACKET / ((u64)n * outdone * s->cwnd);
	return change;
}

static void olia_ack(struct subflow *s, const struct ack *a)
{
	struct olia *o = state_of(s);

	o->since += a->delivered;
	s->word = o->since > o->between ? o->since : o->between;
}

static void olia_grow(struct subflow *s, const struct ack *a)
{
	struct olia *o = state_of(s);
	u32 left = o->avoiding ? a->delivered : slow_start(s, a->delivered);
	struct change change;

	if (!left)
		return;
	o->avoiding = 1;
	change = olia_change(s);
	if (change.up < change.down) {
		lower_window(s, &o->credit, left, change.down - change.up, 2);
		return;
	}
	change.up -= change.down;
	raise_window(s, &o->credit, left, change.up < ONE_PACKET ? change.up : ONE_PACKET);
}

static u32 olia_congestion(struct subflow *s, enum cause cause)
{
	struct olia *o = state_of(s);

	o->credit = 0;
	o->avoiding = 0;
	if (o->since) { /* losses without a delivery between them are one */
		o->between = o->since;
		o->since = 0;
	}
	s->word = o->between;
	return half_window(s);
}

CONTROLLER(olia,
	.title = "OLIA: Multipath TCP's opportunistic linked increases",
	.source = "Khalili et al., CoNEXT 2012; THESIS Table 3.1",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_LOWERS,
	.claims = CLAIM_RTT_RATIOS,
	.coupled = 1,
	.min_cwnd = 2,
	.single = "reno",
	MAXIMISES(RENO_INSTEAD(POOLED, "THESIS §3.1, of Khalili et al. (CoNEXT 2012)")),
	FOLLOWS({ .growth = GROWTH_OPPORTUNISTIC }),
	.ack = olia_ack,
	.grow = olia_grow,
	.congestion = olia_congestion);
