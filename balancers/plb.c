/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * PLB: all packets take one path, which changes after some congested rounds.
 *
 * Source: Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load Balancing",
 * SIGCOMM 2022; names and defaults of Linux 6.2, net/ipv4/tcp_plb.c.
 *
 *   a round      ends when as many packets have been reported as the window had when it began
 *   at its end   it was congested if at least cong_thresh/256 of its packets were marked or trimmed; an
 *                uncongested round resets the count. After rehash_rounds congested ones in a row the path
 *                changes, and the count is reset
 *   TIMEOUT      on the current path: it changes at once, and for a random time between 1 and 2 times
 *                suspend_rto congestion changes nothing, so that packets do not return to a broken path
 *
 * A new path is any other one, all equally likely.
 *
 * Deviations from Linux:
 *   - a round is counted in packets; in Linux it ends when everything sent before it began is ACKed.
 *   - there is no idle_rehash_rounds: a balancer does not know what is in flight.
 *   - a trimmed packet counts as marked; Linux has no trimming.
 *   - a TIMEOUT is that of a packet, not of the flow; those of packets on an earlier path change nothing.
 *   - a new IPv6 flow label may lead to the same path as before; a new path does not.
 */
#include "balancer.h"

#define PARAMETERS(P)                                                          \
	P(cong_thresh, 128, 1, 256, "1/256",                                   \
	  "K: a round is congested if this share of its packets was marked")   \
	P(rehash_rounds, 12, 1, 31, "rounds", "N: consecutive congested rounds after which the path changes") \
	P(suspend_rto, 60, 0, 255, "s",                                        \
	  "after a timeout congestion changes nothing for 1 to 2 times as long")
DECLARE_PARAMETERS

#define MS_PER_S 1000u
#define NS_PER_MS 1000000

struct plb {
	u64 suspended_at, suspended_for; /* ns */
	u32 path;
	u32 round; /* packets that this round has */
	u32 told;  /* of these */
	u32 marked;
	u32 congested_rounds;
};
DECLARE_STATE(struct plb)

static void change(struct spread *s)
{
	struct plb *p = state_of(s);

	if (s->paths > 1)
		p->path = (p->path + 1 + random_below(s, s->paths - 1)) % s->paths;
	p->congested_rounds = 0;
}

static void suspend(struct spread *s)
{
	struct plb *p = state_of(s);
	u32 least = (u32)PARAMETER(s, suspend_rto) * MS_PER_S;

	p->suspended_at = s->now;
	p->suspended_for = ((u64)least + random_below(s, least)) * NS_PER_MS;
}

static void end_round(struct spread *s)
{
	struct plb *p = state_of(s);
	u32 rounds = (u32)PARAMETER(s, rehash_rounds);
	u32 congested = (u64)p->marked * 256 >= PARAMETER(s, cong_thresh) * p->told;

	p->told = 0;
	p->marked = 0;
	p->congested_rounds = congested ? min_u32(p->congested_rounds + 1, rounds) : 0;
	if (p->congested_rounds >= rounds && s->now - p->suspended_at >= p->suspended_for)
		change(s);
}

static void plb_init(struct spread *s)
{
	state_of(s)->path = random_below(s, s->paths);
}

static void plb_feedback(struct spread *s, u32 path, enum feedback what)
{
	struct plb *p = state_of(s);

	if (what == TIMEOUT) {
		if (path == p->path) {
			change(s);
			suspend(s);
		}
		return;
	}
	if (!p->told)
		p->round = s->window;
	p->told++;
	p->marked += what != GOOD;
	if (p->told >= p->round)
		end_round(s);
}

static u32 plb_pick(struct spread *s, u32 sequence)
{
	return state_of(s)->path;
}

BALANCER(plb,
	.title = "PLB: one path for all packets, which changes after some congested rounds",
	.source = "Qureshi et al., SIGCOMM 2022; Linux 6.2, net/ipv4/tcp_plb.c",
	.flags = FLOW_LEVEL,
	WITH_PARAMETERS,
	WITH_STATE,
	.init = plb_init,
	.feedback = plb_feedback,
	.pick = plb_pick);
