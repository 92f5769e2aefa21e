/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The contract between a congestion controller and its host.
 *
 * A host is the simulator (native build) or the kernel (eBPF build). A controller file contains only
 * the algorithm; whatever differs between hosts is in this header.
 *
 * Rules for a controller: integers only; no division by a value that may be 0; loops only over
 * FOR_EACH_SUBFLOW or with a constant bound; it writes only its own subflow.
 *
 * A controller of a subflow sees
 *   - its own subflow, live            (struct subflow)
 *   - the ACK being processed          (struct ack)
 *   - the connection's subflows        (FOR_EACH_SUBFLOW: the own one first, then snapshots)
 */
#ifndef TRESSE_CONTROLLER_H
#define TRESSE_CONTROLLER_H

/* The compiler's own names: a BPF target has no C library. */
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __INT32_TYPE__ s32;
typedef __UINT64_TYPE__ u64;

#include "fix.h"
#include "law.h"

/* Raised whenever the layout or the meaning of anything below changes. */
#define TRESSE_CONTROLLER_ABI 5

/* Linux gives 13 words of private state; the kernel's wrapper needs 4 of them. */
#define PRIVATE_WORDS 9

#define MAX_PARAMETERS 16

#define MAX_SUBFLOWS 64

/* "No threshold yet": the subflow has not left its first slow start. Linux's value. */
#define INFINITE_SSTHRESH 0x7fffffff

/* What the host promises of every subflow: windows of at most 2^20 packets, and smoothed RTTs from
   1 us to 16 s (1/8 us) unless unknown, so that no controller's arithmetic overflows. */
#define CWND_LIMIT ((1u << 20) + 1)
#define SRTT_LEAST 8
#define SRTT_LIMIT (1u << 27)

/* The sender's states, with Linux's names and numbers (TCP_CA_*). */
enum state { OPEN, DISORDER, CWR, RECOVERY, LOSS };

/*
 * Why the window must shrink. MARK: an ECN echo without loss. LOSS_EVENT: a loss, also before a
 * timeout. LOCAL: congestion of the host's own port; in Linux a drop in its queueing discipline.
 */
enum cause { MARK, LOSS_EVENT, LOCAL };

/* One subflow, as its own controller sees it. */
struct subflow {
	u32 cwnd;      /* congestion window, packets; raised by `grow` only */
	u32 ssthresh;  /* slow-start threshold, packets; the host sets it */
	u32 srtt;      /* smoothed RTT, 1/8 us; 0 = unknown, else 8 to 2^27 - 1 */
	u32 min_rtt;   /* smallest RTT sample, 1/8 us; 0 = unknown */
	u32 in_flight; /* packets in flight */
	u32 mss;       /* payload of a full packet, bytes; at least 1 */
	u8 state;      /* enum state */
	u8 cwnd_limited; /* 1: the window, not the application, was the limit */
	u8 next_hop;   /* 1: the next hop tells that it is congested (SIGNAL_NEXT_HOP) */
	u8 alone;      /* output: 1 = ask for no new data on siblings, unless they ask too */
	u8 index;      /* host's: see place_of */
	u8 count;      /* host's: subflows of the connection */
	u16 unused;
	u64 word;      /* published: siblings see it as peer.word */
#ifdef TRESSE_BPF
	u64 *private_words; /* in the socket */
	struct siblings *siblings; /* host's: NULL until they are asked for */
	void *socket; /* host's */
#else
	u64 private_words[PRIVATE_WORDS];
	const u64 *parameters; /* host's: several schemes live in one process */
#endif
};

/* What one ACK brings. */
struct ack {
	u32 delivered; /* packets newly delivered: cumulatively ACKed or SACKed for the first time */
	u32 marked;    /* how many CE marks it echoes */
	u32 rtt;       /* newest RTT sample, 1/8 us; 0 = none (the kernel repeats the last) */
	u32 new_round; /* in `ack`: this is the first ACK of a new round (window of data);
	                  in `grow`: a round has begun since the last `grow` */
	u64 now;       /* us; only the difference of two of the same subflow's has a meaning */
};

/* A hop of a packet's way, as the switch wrote it into the packet when it left (HPCC's INT). */
struct hop {
	u64 bytes; /* that the port had sent */
	u64 time;  /* ns, by the port's clock: differences of the same port's only */
	u32 queue; /* bytes that waited in the port */
	u32 rate;  /* of the port, Mbit/s */
};

/*
 * What the host of a sprayed transport (profile "spray") tells of packets: each ACK, each NACK, each
 * expiry of a timer, and once before the first packet, with all counts 0. Such a transport has no
 * congestion states: windows are cut when `report` says so, as often as it says so.
 */
struct report {
	u32 delivered;  /* packets newly delivered */
	u32 marked;     /* those of them that came with CE */
	u32 trimmed;    /* packets of which a switch had room for the header only */
	u32 lost;       /* packets that a timer has given up */
	u32 rtt;        /* ns; the newest sample; 0 = none */
	u32 base_rtt;   /* ns; of the empty path, with a full packet; at least 1 */
	u32 line_rate;  /* Mbit/s; what the host's links carry; at least 1 */
	u32 rate;       /* Mbit/s, headers included; the delivery rate that this answer shows; 0 = none */
	u8 last_hop;    /* 1: the port that trimmed leads to the receiver */
	u8 app_limited; /* 1: the application, not the window, was the limit */
	u8 hop_count;   /* hops of the newest packet that arrived, whole or trimmed; 0 = not told */
	u8 unused;
	u64 now;        /* ns; only the difference of two of the same subflow's has a meaning */
	const struct hop *hops; /* SIGNAL_TELEMETRY: the hops there, from the sender on */
};

/* One subflow of the connection as a snapshot: 1 <= cwnd < CWND_LIMIT, SRTT_LEAST <= srtt < SRTT_LIMIT. */
struct peer {
	u32 cwnd;
	u32 srtt;
	u64 word;
};

/* A parameter: a whole number with a unit, a default and a range. */
struct parameter {
	const char *name;
	u64 initial, min, max;
	const char *unit, *meaning;
};

/* Signals that a controller needs. */
#define SIGNAL_LOSS 1     /* losses and timeouts: every host has them */
#define SIGNAL_ECN 2      /* at least one mark in a window is told */
#define SIGNAL_CE_EXACT 4 /* every CE mark is counted */
#define SIGNAL_NEXT_HOP 8 /* the congestion of the next hop; no Linux kernel tells it */
#define SIGNAL_PACKETS 16 /* the fate of every packet: `report`; sprayed transports only */
#define SIGNAL_TELEMETRY 32 /* the hops in `report` */

/* Exceptions to the contract, where a paper's rule needs one. */
#define EXCEPTION_LOWERS 1       /* `grow` may lower the window */
#define EXCEPTION_IGNORES_MARK 2 /* `congestion` may answer a mark with IGNORE_MARK */
#define EXCEPTION_FAST_START 4   /* below ssthresh a packet delivered may add up to FAST_START_MOST */
#define EXCEPTION_LEAPS 8        /* `grow` may add more packets than were delivered where RTTs differ */

#define FAST_START_MOST 3

/* What a paper proves of its rule, and `tresse controller check` holds it to. */
#define CLAIM_NOT_ABOVE_RENO 1 /* on no path does an ACK raise the window more than Reno's would */
#define CLAIM_RTT_RATIOS 2     /* if all RTTs are multiplied by one factor, nothing changes */

/* `congestion`'s answer to a mark that is no congestion: the window goes on rising, as if there
   had been none, and the next marked ACK asks again. Only in congestion avoidance. */
#define IGNORE_MARK 0

struct controller {
	u32 abi;
	u32 signals;
	u32 exceptions;
	u32 claims;
	u32 coupled;      /* 1: the increase looks at the siblings */
	u32 min_cwnd;     /* `congestion` never cuts below it, packets (a timeout sets 1) */
	u32 parameter_count;
	u32 objective_count, law_count;
	const char *name, *title, *source;
	const char *single; /* the controller that it is with one subflow and its defaults; NULL: none */
	const struct parameter *parameters;
	const struct objective *objectives; /* MAXIMISES */
	const struct fluid_law *laws;       /* FOLLOWS */

	/* Once, before anything else. May set private state. */
	void (*init)(struct subflow *s);
	/*
	 * Every ACK that delivers something, in every state, before the host reacts to it; but if it ends
	 * CWR, the state is OPEN already, as in Linux. Updates private state and the word; does not touch
	 * the window.
	 */
	void (*ack)(struct subflow *s, const struct ack *a);
	/*
	 * An ACK for which the host lets the window rise: not in CWR or Recovery, and only when
	 * the window was the limit. The only hook that moves cwnd: up, by no more than the packets
	 * delivered, unless an EXCEPTION_ that says otherwise is declared; never below min_cwnd.
	 * In Loss the host calls it too: the slow start after a timeout, and what follows (Linux, RFC
	 * 5681).
	 */
	void (*grow)(struct subflow *s, const struct ack *a);
	/*
	 * Once a window: returns the window after the cut, at most cwnd (or min_cwnd, if cwnd is
	 * below it). The host reduces to it, at once or by PRR, and sets ssthresh to it. A mark may
	 * be answered by IGNORE_MARK, if EXCEPTION_IGNORES_MARK is declared.
	 * When a loss meets the reduction of a mark or of a local drop, it is asked once more, for
	 * the loss, with the window before that reduction as cwnd and ssthresh: the lower answer
	 * counts. If that is the first one, what this call wrote is forgotten.
	 */
	u32 (*congestion)(struct subflow *s, enum cause cause);
	/*
	 * Every timeout, after the window has been lowered for it (to 1, mostly). `congestion(LOSS_EVENT)`
	 * came before, unless the window had been cut already for what is outstanding. Resets private state.
	 */
	void (*timeout)(struct subflow *s);
	/*
	 * SIGNAL_PACKETS: in place of all hooks but `init`. Sets cwnd, up or down, from 1 packet on; fractions
	 * are its own to keep. Returns the pace of packets, bytes/us; 0 = none. A window below a packet is a
	 * window of 1 with a pace.
	 */
	u32 (*report)(struct subflow *s, const struct report *r);
};

/* A second name for a controller, with a title and a source of its own, and what that source says of the
   utility, if it says something else; the rest is the controller's. */
struct alias {
	const struct controller *of;
	const char *name, *title, *source;
	const struct objective *objectives; /* MAXIMISES; NULL: the controller's */
	u32 objective_count;
};

/*
 * Parameters are declared once, before the hooks:
 *
 *   #define PARAMETERS(P) P(beta, 4, 2, 64, "", "a mark cuts cwnd by cwnd / beta")
 *   DECLARE_PARAMETERS
 *
 * and read as PARAMETER(s, beta).
 */
#define PARAMETER_INDEX(name, initial, min, max, unit, meaning) parameter_##name,
#define PARAMETER_ENTRY(name, initial, min, max, unit, meaning) \
	{ #name, initial, min, max, unit, meaning },
#define DECLARE_PARAMETERS                                                     \
	enum { PARAMETERS(PARAMETER_INDEX) parameter_count };                  \
	_Static_assert(parameter_count <= MAX_PARAMETERS, "too many parameters"); \
	static const struct parameter parameter_table[] = { PARAMETERS(PARAMETER_ENTRY) };
#define WITH_PARAMETERS .parameters = parameter_table, .parameter_count = parameter_count

/* The private state as the controller's own struct; too large a struct does not compile. */
#define DECLARE_STATE(type)                                                    \
	_Static_assert(sizeof(type) <= 8 * PRIVATE_WORDS, "private state too large"); \
	static inline type *state_of(struct subflow *s) { return (type *)s->private_words; }

/*
 * What differs between the two hosts: how a declaration is kept, where the parameters are, and how
 * the siblings are reached.
 *
 *   CONTROLLER(name, …)      the declaration from which every host, list and page is fed
 *   ALIAS(name, of, …)       a second name, of the controller `of` of the same file
 *   PARAMETER(s, name)       a parameter's value
 *   place_of(s)              the subflow's number in its connection, 0 = the first that was made
 *   FOR_EACH_SUBFLOW(p, s)   a loop over the connection's subflows, each as a struct peer p: the own
 *                            one first, then the others; those without an RTT sample are left out,
 *                            as they carry nothing that a sibling could use
 */
#ifdef TRESSE_BPF

/* ---- eBPF back end: one program for one controller; bpf/controller.bpf.c finds the siblings. ---- */

/* Folded into the program: neither the table nor its strings reach the kernel. The long name keeps
   it apart from the program's own tresse_ack, tresse_grow and so on. */
#define CONTROLLER(id, ...)                                                    \
	static const struct controller tresse_controller_##id __attribute__((unused)) = { \
		.abi = TRESSE_CONTROLLER_ABI, .name = #id, __VA_ARGS__         \
	}
/* The program is the controller's, whatever name it is registered under. */
#define ALIAS(id, first, ...)                                                  \
	static const struct alias tresse_alias_##id __attribute__((unused)) = { \
		.of = &tresse_controller_##first, .name = #id, __VA_ARGS__     \
	}

/* Read-only data, set before the program is loaded: the verifier knows each as a constant. */
const volatile u64 parameters[MAX_PARAMETERS] SEC(".rodata.parameters") = {};
#define PARAMETER(s, name) (parameters[parameter_##name])

/* The own subflow and the others, side by side. */
struct siblings {
	u32 busy, count;
	struct peer peers[MAX_SUBFLOWS + 1];
};

/* The siblings of this moment, the own subflow brought up to date; NULL if there is no room. */
static struct siblings *siblings_of(const struct subflow *s);

static u32 place_of(const struct subflow *s) __attribute__((unused));

static inline u32 peer_at(const struct siblings *all, const int *i, struct peer *p)
{
	if (!i)
		return 0;
	if (*(const u32 *)i <= MAX_SUBFLOWS)
		*p = all->peers[*(const u32 *)i];
	return 1;
}

/* An open-coded iterator: the verifier sees one turn of the loop, however many there are. */
#define FOR_EACH_SUBFLOW(p, s)                                                 \
	struct peer p = {};                                                    \
	struct siblings *p##_all = siblings_of(s);                             \
	for (struct bpf_iter_num p##_it                                        \
		__attribute__((aligned(8), cleanup(bpf_iter_num_destroy))),    \
		*p##_unused __attribute__((unused)) =                          \
		(bpf_iter_num_new(&p##_it, 0, p##_all ? p##_all->count : 0),   \
		 (void)bpf_iter_num_destroy, (void *)0);                       \
	     p##_all && peer_at(p##_all, bpf_iter_num_next(&p##_it), &p);)     \
		if (p.srtt)

#else

/* ---- Native back end: the subflows of a connection lie side by side. ---- */

/* crates/controllers/src/raw.rs has the same layout. */
_Static_assert(sizeof(struct subflow) == 32 + 8 + 8 * PRIVATE_WORDS + sizeof(void *),
	       "struct subflow has holes");

#define CONTROLLER(id, ...)                                                    \
	const struct controller tresse_##id = {                                \
		.abi = TRESSE_CONTROLLER_ABI, .name = #id, __VA_ARGS__         \
	}
#define ALIAS(id, first, ...)                                                  \
	const struct alias tresse_##id = {                                     \
		.of = &tresse_##first, .name = #id, __VA_ARGS__                \
	}

#define PARAMETER(s, name) ((s)->parameters[parameter_##name])

static inline u32 place_of(const struct subflow *s)
{
	return s->index;
}

static inline u32 peer_at(const struct subflow *s, u32 i, struct peer *p)
{
	/* i = 0 is the own subflow, then the others in their order. */
	const struct subflow *q = s - s->index + (i == 0 ? s->index : i <= s->index ? i - 1 : i);

	if (!q->srtt || !q->cwnd)
		return 0;
	p->cwnd = q->cwnd;
	p->srtt = q->srtt;
	p->word = q->word;
	return 1;
}

#define FOR_EACH_SUBFLOW(p, s)                                                 \
	struct peer p;                                                         \
	for (u32 p##_i = 0; p##_i < (s)->count; p##_i++)                       \
		if (peer_at(s, p##_i, &p))

#endif

/* ---- Arithmetic that nearly every controller shares. ---- */

static inline u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* slow_start up to a threshold that is not the host's, packets. */
static inline u32 slow_start_to(struct subflow *s, u32 threshold, u32 delivered)
{
	u32 used = min_u32(delivered, s->cwnd < threshold ? threshold - s->cwnd : 0);

	s->cwnd += used;
	return delivered - used;
}

/*
 * Slow start (RFC 5681 §3.1, counting packets): one packet more for each packet delivered, up to
 * ssthresh. Returns the packets that are left for congestion avoidance.
 */
static inline u32 slow_start(struct subflow *s, u32 delivered)
{
	return slow_start_to(s, s->ssthresh, delivered);
}

/*
 * Congestion avoidance: each of the `delivered` packets is worth `increase` packets of window
 * (Q48, at most one). The fraction stays in *credit.
 */
static inline void raise_window(struct subflow *s, u64 *credit, u32 delivered, u64 increase)
{
	/* An ACK for more than 2^14 packets counts as one for 2^14: the product stays below 2^63. */
	u64 n = delivered < (1u << 14) ? delivered : 1u << 14;

	*credit += n * increase;
	s->cwnd += (u32)(*credit >> 48);
	*credit &= (1ULL << 48) - 1;
}

/*
 * raise_window's counterpart, for a `grow` that may lower (EXCEPTION_LOWERS): each of the `delivered`
 * packets takes `decrease` (Q48 packets, at most one), down to a window of `least`.
 */
static inline void lower_window(struct subflow *s, u64 *credit, u32 delivered, u64 decrease, u32 least)
{
	u64 count = delivered < (1u << 14) ? delivered : 1u << 14;
	u64 owed = count * decrease;
	u64 packets = owed > *credit ? (owed - *credit + (1ULL << 48) - 1) >> 48 : 0;

	if (packets + least > s->cwnd) {
		s->cwnd = s->cwnd < least ? s->cwnd : least;
		*credit = 0;
		return;
	}
	s->cwnd -= (u32)packets;
	*credit = *credit + (packets << 48) - owed;
}

/* One packet of window for each window of packets: 1 / cwnd, in Q48; rounded up, so that exactly
   cwnd packets are enough. */
static inline u64 reno_increase(const struct subflow *s)
{
	return ((1ULL << 48) + s->cwnd - 1) / s->cwnd;
}

/* Half the window, not below 2 packets (RFC 5681 eq. (4), on cwnd as Linux does). */
static inline u32 half_window(const struct subflow *s)
{
	return max_u32(s->cwnd / 2, 2);
}

#endif
