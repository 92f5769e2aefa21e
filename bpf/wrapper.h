/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* The wrapper's state in each socket, and its counters. */
#ifndef TRESSE_WRAPPER_H
#define TRESSE_WRAPPER_H

#define READY 0x1e

/* In icsk_ca_priv. The kernel zeroes it before another congestion control takes over. */
struct wrapper {
	u64 word;           /* published: the siblings read it from here */
	u16 delivered;      /* low bits of tp->delivered at the last count */
	u16 delivered_ce;
	u32 round_end;      /* a round ends when more than this is ACKed */
	u32 event_end;      /* marks of packets sent up to here belong to the last cut */
	u32 prior_rcv_nxt;  /* receiver: what the last ACK of this CE state would cover */
	u32 last_cwnd: 21;  /* the window when a hook last saw it */
	u32 ready: 5;       /* READY between init and release */
	u32 echoed: 1;      /* the current ACK carries an ECN echo */
	u32 round_seen: 1;  /* a round has begun since the last `grow` */
	u32 ce_state: 1;    /* receiver: the last packet was marked */
	u32 held: 1;        /* this CWR is not a cut: its marks belong to the last one, or are ignored */
	u32 ignoring: 1;    /* they are ignored: the window keeps rising, in ssthresh */
	u32 probed: 1;      /* the current ACK shows that a tail loss probe repaired a loss */
	u32 target: 21;     /* the window of a cut in progress, or 0 */
	u32 marked: 11;     /* marks of the last ACK that delivered something */
	u64 controller[PRIVATE_WORDS];
};

_Static_assert(sizeof(struct wrapper) <= 13 * 8, "Linux gives 13 words");

static __always_inline struct wrapper *wrapper_of(struct sock *sk)
{
	return (struct wrapper *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline u32 bounded(u32 value, u32 least, u32 limit)
{
	return value < least ? least : value < limit ? value : limit - 1;
}

static __always_inline u32 window(u32 packets)
{
	return bounded(packets, 1, CWND_LIMIT);
}

/* Whether sequence number a lies after b. */
static __always_inline int after(u32 a, u32 b)
{
	return (s32)(b - a) < 0;
}

/* Microseconds as 1/8 us; ~0 is the kernel's value for "unknown". */
static __always_inline u32 eighths(u32 us)
{
	return us == ~0u ? 0 : us < SRTT_LIMIT / 8 ? us * 8 : SRTT_LIMIT - 1;
}

/* crates/linux/src/counters.rs has the same names in the same order. */
enum counter {
	SOCKETS_BEGUN,     /* sockets that took the controller */
	SOCKETS_ENDED,     /* sockets that left it */
	WITHOUT_ECN,       /* sockets that fell back to Reno: the peer does not support ECN */
	CUTS_BY_MARK,
	CUTS_BY_LOSS,
	CUTS_BY_LOCAL_DROP,
	TIMEOUTS,
	UNDONE,            /* reductions that turned out to be unnecessary */
	REPAIRS,           /* hooks that the kernel skipped, with the damage repaired */
	WALKS_CUT_SHORT,   /* walks over the siblings that met one while it was leaving, or more than 64 */
	COUNTERS
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* A softirq may interrupt a count on the same core: hence atomic. */
static __always_inline void count(enum counter which)
{
	u32 key = which;
	u64 *value = bpf_map_lookup_elem(&counters, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
}

#endif
