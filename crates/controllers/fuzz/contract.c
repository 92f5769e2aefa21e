/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A controller under libFuzzer and clang's sanitizers: bytes become calls of hooks, within what
 * controller.h promises, and what it demands is asserted. scripts/fuzz builds it with all controllers and
 * runs it for each, named by $CONTROLLER.
 *
 * The harness of `tresse controller check` sees more (claims, permutations, shortest scripts); this one
 * sees what only a sanitizer does: shifts too far, indices out of bounds, memory of others, implicit
 * conversions that lose bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"

/* Written by scripts/fuzz from the files of controllers/: DECLARED(X) is X(name) for each. */
#include "declared.h"

#define EXTERN(name) extern const struct controller tresse_##name;
#define ADDRESS(name) &tresse_##name,
DECLARED(EXTERN)
static const struct controller *const all[] = { DECLARED(ADDRESS) };
static const struct controller *fuzzed;

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	const char *name = getenv("CONTROLLER");

	for (u32 i = 0; name && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i]->name, name))
			fuzzed = all[i];
	if (!fuzzed) {
		fprintf(stderr, "CONTROLLER names none of those that are built in\n");
		exit(2);
	}
	return 0;
}

/* What is left of the input; zeros when it is used up. */
struct input {
	const u8 *at;
	size_t left;
};

static u32 take(struct input *in, u32 bytes)
{
	u32 value = 0;

	for (; bytes && in->left; bytes--, in->left--)
		value = value << 8 | *in->at++;
	return value;
}

/* A number from low to high, of any order of magnitude: 5 bits choose how many low bits it keeps. */
static u32 number(struct input *in, u32 low, u32 high)
{
	u32 value = take(in, 4), bits = take(in, 1) % 32;
	u64 wide = low + ((u64)value & ((2ULL << bits) - 1));

	return wide < high ? (u32)wide : high;
}

struct connection {
	const struct controller *c;
	struct subflow *s, *before;
	u64 *now, *round; /* per subflow: time; a round began that `grow` has not seen */
	u32 count;
	u32 rtt;    /* the one RTT that was seen; 0 before */
	u32 differ; /* more than one was seen */
	u32 base_rtt, line_rate; /* of all reports */
};

static void require(const struct connection *k, int holds, const char *what, u32 i, u64 was, u64 is)
{
	if (holds)
		return;
	fprintf(stderr, "%s, subflow %u of %u: %s (%llu, then %llu)\n", k->c->name, i, k->count, what,
		(unsigned long long)was, (unsigned long long)is);
	abort();
}

static void remember(struct connection *k)
{
	memcpy(k->before, k->s, k->count * sizeof(*k->s));
}

/* What any hook of subflow i may have written; cwnd is looked at by the caller. */
static void only_its_own(const struct connection *k, u32 i)
{
	struct subflow may = k->before[i];

	memcpy(may.private_words, k->s[i].private_words, sizeof(may.private_words));
	may.word = k->s[i].word;
	may.alone = k->s[i].alone;
	may.cwnd = k->s[i].cwnd;
	require(k, !memcmp(&may, &k->s[i], sizeof(may)), "a field of the host's is written", i, 0, 0);
	for (u32 n = 0; n < k->count; n++)
		require(k, n == i || !memcmp(&k->before[n], &k->s[n], sizeof(may)), "a sibling is written",
			i, 0, n);
}

static void unmoved(const struct connection *k, u32 i)
{
	only_its_own(k, i);
	require(k, k->before[i].cwnd == k->s[i].cwnd, "the window is moved outside of grow", i,
		k->before[i].cwnd, k->s[i].cwnd);
}

/* 1 if the window was reduced, 0 if a mark was ignored. */
static int cut(struct connection *k, u32 i, enum cause cause)
{
	const struct controller *c = k->c;
	struct subflow *s = &k->s[i];
	u32 was = s->cwnd, floor = c->min_cwnd, answer = was;

	remember(k);
	if (c->congestion)
		answer = c->congestion(s, cause);
	unmoved(k, i);
	if (cause == MARK && answer == IGNORE_MARK && c->exceptions & EXCEPTION_IGNORES_MARK) {
		require(k, was >= s->ssthresh, "a mark is ignored in slow start", i, was, s->ssthresh);
		return 0;
	}
	require(k, answer <= (was > floor ? was : floor), "a cut raises the window", i, was, answer);
	require(k, answer >= (was < floor ? was : floor), "a cut goes below the floor", i, was, answer);
	s->ssthresh = answer;
	if (answer < was)
		s->cwnd = answer;
	return 1;
}

static void grow(struct connection *k, u32 i, const struct ack *a)
{
	const struct controller *c = k->c;
	struct subflow *s = &k->s[i];
	u32 was = s->cwnd, floor = was < c->min_cwnd ? was : c->min_cwnd;
	u64 most = a->delivered;

	if (c->exceptions & EXCEPTION_FAST_START && was < s->ssthresh)
		most *= FAST_START_MOST;
	/* With equal RTTs, what one round earned may come with the next ACK. */
	if (c->exceptions & EXCEPTION_LEAPS)
		most = k->differ ? ~0ULL : most + 1;
	remember(k);
	if (c->grow)
		c->grow(s, a);
	only_its_own(k, i);
	require(k, s->cwnd >= was || c->exceptions & EXCEPTION_LOWERS, "grow lowers the window",
		i, was, s->cwnd);
	require(k, s->cwnd >= floor, "grow goes below the floor", i, was, s->cwnd);
	require(k, s->cwnd <= was || s->cwnd - was <= most, "grow adds too much", i, was, s->cwnd);
	if (s->cwnd >= CWND_LIMIT)
		s->cwnd = CWND_LIMIT - 1;
}

static void on_ack(struct connection *k, struct input *in, u32 i)
{
	struct subflow *s = &k->s[i];
	u32 flags = take(in, 1);
	struct ack a = { .delivered = number(in, 1, CWND_LIMIT - 1) };

	if (flags & 1)
		a.marked = number(in, 0, a.delivered);
	if (flags & 2 || !s->srtt)
		s->srtt = number(in, SRTT_LEAST, SRTT_LIMIT - 1);
	a.rtt = s->srtt;
	k->differ |= k->rtt && k->rtt != s->srtt;
	k->rtt = s->srtt;
	if (!s->min_rtt || s->min_rtt > s->srtt)
		s->min_rtt = s->srtt;
	if (flags & 4)
		k->now[i] += take(in, 4);
	a.now = k->now[i];
	a.new_round = flags >> 3 & 1;
	k->round[i] |= a.new_round;
	s->cwnd_limited = !(flags & 64);
	s->in_flight = s->cwnd_limited ? s->cwnd : number(in, 0, s->cwnd);
	s->next_hop = flags >> 4 & 1;
	remember(k);
	if (k->c->ack)
		k->c->ack(s, &a);
	unmoved(k, i);
	if (flags & 32)
		s->state = OPEN;
	if (a.marked && s->state < CWR && cut(k, i, MARK)) {
		s->state = CWR;
		return;
	}
	if (s->state == CWR || s->state == RECOVERY || !s->cwnd_limited)
		return;
	a.new_round = (u32)k->round[i];
	k->round[i] = 0;
	grow(k, i, &a);
}

/* The most hops of a packet here: more than any controller keeps. */
#define MOST_HOPS 8

/* One report, and one of nothing after it. */
static void on_report(struct connection *k, struct input *in, u32 i)
{
	struct subflow *s = &k->s[i];
	u32 flags = take(in, 1), count = take(in, 1) % (MOST_HOPS + 1), was = s->cwnd, pace;
	/* Exactly as many as there are. */
	struct hop *hops = malloc(count * sizeof(*hops) + !count);
	struct report r = {
		.base_rtt = k->base_rtt, .line_rate = k->line_rate, .hop_count = (u8)count, .hops = hops,
		.last_hop = flags & 1, .app_limited = flags >> 1 & 1,
	};

	for (u32 n = 0; n < count; n++) {
		hops[n].bytes = (u64)take(in, 1) << 56 | number(in, 0, ~0u);
		hops[n].time = (u64)take(in, 1) << 48 | number(in, 0, ~0u);
		hops[n].queue = number(in, 0, ~0u);
		hops[n].rate = number(in, 1, ~0u);
	}
	if (flags & 4)
		k->now[i] += number(in, 0, ~0u);
	r.now = k->now[i];
	if (flags & 8) {
		r.delivered = number(in, 1, CWND_LIMIT - 1);
		r.marked = flags & 16 ? number(in, 0, r.delivered) : 0;
		r.rtt = number(in, 0, ~0u);
	}
	if (flags & 32)
		r.trimmed = number(in, 0, CWND_LIMIT - 1);
	if (flags & 64)
		r.lost = number(in, 0, CWND_LIMIT - 1);
	s->in_flight = flags & 128 ? number(in, 0, CWND_LIMIT - 1) : s->cwnd;
	remember(k);
	pace = k->c->report(s, &r);
	only_its_own(k, i);
	require(k, s->cwnd >= 1 && s->cwnd < CWND_LIMIT, "a window that no host takes", i, was, s->cwnd);
	require(k, pace <= r.line_rate / 8 + 1, "a pace above the link's rate", i, r.line_rate, pace);
	was = s->cwnd;
	r = (struct report){ .base_rtt = r.base_rtt, .line_rate = r.line_rate, .now = r.now };
	require(k, k->c->report(s, &r) == pace && s->cwnd == was, "a report of nothing does something", i,
		was, s->cwnd);
	free(hops);
}

static void event(struct connection *k, struct input *in)
{
	u32 what = take(in, 1) % 16, i = take(in, 1) % k->count;
	struct subflow *s = &k->s[i];

	if (k->c->report) {
		if (!what) {
			k->base_rtt = number(in, 1, ~0u);
			k->line_rate = number(in, 1, ~0u);
		}
		on_report(k, in, i);
		return;
	}
	switch (what) {
	case 0:
		if (s->state < CWR)
			cut(k, i, LOSS_EVENT);
		if (s->state <= CWR)
			s->state = RECOVERY;
		break;
	case 1:
		if (s->state < CWR && cut(k, i, LOCAL))
			s->state = CWR;
		break;
	case 2:
		if (s->state != LOSS)
			cut(k, i, LOSS_EVENT);
		s->state = LOSS;
		remember(k);
		if (k->c->timeout)
			k->c->timeout(s);
		unmoved(k, i);
		s->cwnd = 1;
		break;
	case 3:
	case 4:
		s->cwnd = number(in, 1, CWND_LIMIT - 1);
		s->ssthresh = number(in, max_u32(k->c->min_cwnd, 1), INFINITE_SSTHRESH);
		break;
	default:
		on_ack(k, in, i);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct connection k = {
		.c = fuzzed,
		.count = 1 + take(&in, 1) % MAX_SUBFLOWS,
		.base_rtt = 12000,
		.line_rate = 100000,
	};
	u32 n = k.c->parameter_count, mss;
	/* Exactly as much as there is, so that the address sanitizer knows the end. */
	u64 *parameters = malloc(n * sizeof(*parameters) + !n);

	for (u32 p = 0; p < n; p++) {
		const struct parameter *d = &k.c->parameters[p];
		u32 choice = take(&in, 1) % 4;
		u64 range = d->max - d->min, any = range + 1 ? take(&in, 4) % (range + 1) : 0;
		u64 choices[] = { d->initial, d->min, d->max, d->min + any };

		parameters[p] = choices[choice];
	}
	k.s = calloc(k.count, sizeof(*k.s));
	k.before = calloc(k.count, sizeof(*k.s));
	k.now = calloc(k.count, sizeof(*k.now));
	k.round = calloc(k.count, sizeof(*k.round));
	mss = number(&in, 1, 0xffff);
	for (u32 i = 0; i < k.count; i++) {
		k.s[i] = (struct subflow){
			.cwnd = 10, .ssthresh = INFINITE_SSTHRESH, .mss = mss, .cwnd_limited = 1,
			.index = (u8)i, .count = (u8)k.count, .parameters = parameters,
		};
	}
	for (u32 i = 0; i < k.count; i++) {
		remember(&k);
		if (k.c->init)
			k.c->init(&k.s[i]);
		unmoved(&k, i);
	}
	while (in.left)
		event(&k, &in);
	free(k.s);
	free(k.before);
	free(k.now);
	free(k.round);
	free(parameters);
	return 0;
}
