/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What the ports on a path did between two packets, from the hops in `report`: for controllers that use
 * what HPCC's switches write into packets. Only the first HOPS hops are kept, in seven words: bytes
 * modulo 2^32, times modulo 2^26 ns, queues in units of 16 bytes up to 64 MiB. So anything heard 17 ms ago
 * or earlier is forgotten.
 *
 * Hops have no names: the i-th is compared with the i-th of the previous packet, if both have the same
 * number of hops. If packets take several paths, it may be another port. It is treated as another port if
 * its time went back, or if it sent more between the two packets than its rate allows; otherwise the
 * difference goes unnoticed.
 */
#ifndef TRESSE_TELEMETRY_H
#define TRESSE_TELEMETRY_H

#include "controller.h"

#define HOPS 5
#define TIME_BITS 26
#define TIME_MASK ((1u << TIME_BITS) - 1)
#define QUEUE_UNIT 16
#define QUEUE_MOST ((1u << (16 + 32 - TIME_BITS)) - 1)
/* 2^24 ns, in 2^10 ns: how long a hop is remembered. */
#define MEMORY (1u << 14)

struct telemetry {
	u32 bytes[HOPS];
	u32 time[HOPS];  /* and the highest bits of the queue above it */
	u16 queue[HOPS]; /* its lowest bits */
	u8 known;        /* how many hops the last packet had */
	u8 spare;        /* the controller's own: no byte is left beside */
	u32 heard;       /* when, 2^10 ns */
};

/* What a port did between two packets. */
struct passed {
	u32 time;  /* ns; 0: not known */
	u32 bytes; /* that it sent */
	u32 queue; /* what waited when the first of them left, bytes */
};

/* What hop i did since the packet before. */
static inline struct passed passed_at(const struct telemetry *t, const struct report *r, u32 i)
{
	const struct hop *h = &r->hops[i];
	struct passed none = { 0 }, p;

	if (t->known != r->hop_count || (u32)(r->now >> 10) - t->heard >= MEMORY)
		return none;
	p.time = ((u32)h->time - t->time[i]) & TIME_MASK;
	p.bytes = (u32)h->bytes - t->bytes[i];
	p.queue = (t->time[i] >> TIME_BITS << 16 | t->queue[i]) * QUEUE_UNIT;
	/* 8 ns for what is rounded. */
	if (!h->rate || !p.time || p.time >> (TIME_BITS - 1) || p.bytes * 8000ULL > (u64)h->rate * (p.time + 8))
		return none;
	return p;
}

/* Keeps the hops of this packet, for the next. */
static inline void remember_hops(struct telemetry *t, const struct report *r)
{
	for (u32 i = 0; i < HOPS && i < r->hop_count; i++) {
		const struct hop *h = &r->hops[i];
		u32 queue = min_u32(h->queue / QUEUE_UNIT, QUEUE_MOST);

		t->bytes[i] = (u32)h->bytes;
		t->time[i] = ((u32)h->time & TIME_MASK) | queue >> 16 << TIME_BITS;
		t->queue[i] = (u16)(queue & 0xffff);
	}
	t->known = r->hop_count;
	t->heard = (u32)(r->now >> 10);
}

/* What a hop's port carries in an RTT, bytes, at least 1. */
static inline u64 hop_bdp(const struct hop *h, u32 rtt)
{
	u64 bytes = (u64)h->rate * rtt / 8000;

	return bytes ? bytes : 1;
}

/*
 * The average over an RTT into which a newest value goes that `time` ns brought; rounded to the nearest. The
 * values, of any format, must be below 2^31.
 */
static inline u32 over_rtt(u32 average, u32 newest, u32 time, u32 rtt)
{
	u64 part = time < rtt ? time : rtt;

	return (u32)((average * (rtt - part) + newest * part + rtt / 2) / rtt);
}

/* A window of packets counted: 1 when more were told of than were in flight when it began. */
static inline u32 window_passed(u32 *left, const struct report *r)
{
	u64 told = (u64)r->delivered + r->trimmed + r->lost;
	u32 passed = told > *left;

	*left = passed ? 0 : *left - (u32)told;
	return passed;
}

#endif
