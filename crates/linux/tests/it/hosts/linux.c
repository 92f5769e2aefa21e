/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What Linux 6.18 does with congestion states (net/ipv4/tcp_input.c, with SACK), around bpf/controller.bpf.c, which
 * is compiled for this machine. It reads sequences of events, a line each, and prints for each event the recorder's
 * word, ssthresh and the state, and at the end of the line the timeouts that the wrapper has counted.
 */
#include <stdio.h>
#include <string.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;

/* In place of compat.h, siblings.h and registration.h. */
#define TRESSE_BPF
#define TRESSE_COMPAT_H
#define TRESSE_SIBLINGS_H
#define TRESSE_REGISTRATION_H
#define SEC(name)
#undef __always_inline
#define __always_inline inline
#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name
#define BPF_CORE_READ_BITFIELD(object, field) ((object)->field)
#define bpf_core_enum_value(type, value) value
#define TCP_ESTABLISHED 1
#define CA_ACK_ECE 4
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
#define TCP_ECN_OK 1
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_ACCECN 16
#define SOL_TCP 6
#define TCP_CONGESTION 13
enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6 };
enum tcp_ca_event { CA_EVENT_ECN_NO_CE = 4, CA_EVENT_ECN_IS_CE = 5 };

struct bpf_iter_num {
	__u64 opaque;
};

struct sock {
	struct {
		unsigned char skc_state;
	} __sk_common;
};

struct inet_connection_sock {
	struct sock sk;
	__u8 icsk_ca_state, icsk_retransmits;
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd, snd_ssthresh, snd_cwnd_clamp, prior_cwnd, prior_ssthresh, undo_marker;
	__u32 lost_out, sacked_out, packets_out, retrans_out, max_packets_out;
	__u32 rcv_nxt, snd_nxt, snd_una, high_seq, srtt_us;
	__u32 delivered, delivered_ce, prr_delivered, prr_out;
	__u32 tlp_high_seq, mss_cache;
	__u64 tcp_mstamp;
	__u8 is_cwnd_limited, tlp_retrans, ecn_flags;
	struct {
		struct {
			__u32 v;
		} s[3];
	} rtt_min;
	struct {
		__u32 rtt_us;
	} rack;
};

struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

static __u64 counted[16];

static void *bpf_map_lookup_elem(const void *map, const __u32 *key)
{
	(void)map;
	return &counted[*key];
}

static long bpf_setsockopt(void *sk, int level, int name, void *value, int size)
{
	(void)sk, (void)level, (void)name, (void)value, (void)size;
	return 0;
}

static int bpf_tcp_send_ack(void *tp, __u32 rcv_nxt)
{
	(void)tp, (void)rcv_nxt;
	return 0;
}

#include "../../../../../bpf/controller.bpf.c"

/* With the TRESSE_BPF back end, a controller that asks for no siblings does not need them. */
static struct siblings *siblings_of(const struct subflow *s)
{
	(void)s;
	return NULL;
}

static u32 place_of(const struct subflow *s)
{
	(void)s;
	return 0;
}

/* ---- Linux ---- */

#define WINDOW 40
#define START 1000
enum { SACK = 1, LOST = 2, RETRANS = 4 };

static struct tcp_sock tcp, *const tp = &tcp;
static struct inet_connection_sock *const icsk = &tcp.inet_conn;
static u8 board[1 << 16];

#define CALL(hook, ...) hook((unsigned long long[]){ (unsigned long long)tp, __VA_ARGS__ })

static void tally(void)
{
	tp->packets_out = tp->snd_nxt - tp->snd_una;
	tp->sacked_out = tp->lost_out = tp->retrans_out = 0;
	for (u32 i = tp->snd_una; i != tp->snd_nxt; i++) {
		tp->sacked_out += !!(board[i] & SACK);
		tp->lost_out += !!(board[i] & LOST);
		tp->retrans_out += !!(board[i] & RETRANS);
	}
}

static u32 in_flight(void)
{
	tally();
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static void transmit(void)
{
	while (in_flight() < tp->snd_cwnd) {
		u32 i = tp->snd_una;

		while (i != tp->snd_nxt && !(board[i] & LOST && !(board[i] & RETRANS)))
			i++;
		if (i == tp->snd_nxt)
			board[tp->snd_nxt++] = 0;
		else
			board[i] |= RETRANS;
		tp->prr_out++;
	}
}

static void set_ca_state(u8 state)
{
	CALL(tresse_state, state);
	icsk->icsk_ca_state = state;
}

static u32 current_ssthresh(void)
{
	if (icsk->icsk_ca_state == CWR || icsk->icsk_ca_state == RECOVERY)
		return tp->snd_ssthresh;
	return max_u32(tp->snd_ssthresh, (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2));
}

static void init_cwnd_reduction(void)
{
	tp->high_seq = tp->snd_nxt;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->prr_delivered = tp->prr_out = 0;
	tp->snd_ssthresh = CALL(tresse_cut);
}

static void end_cwnd_reduction(void)
{
	if (tp->snd_ssthresh < INFINITE_SSTHRESH && (icsk->icsk_ca_state == CWR || tp->undo_marker))
		tp->snd_cwnd = tp->snd_ssthresh;
}

static void enter_cwr(void)
{
	tp->prior_ssthresh = 0;
	if (icsk->icsk_ca_state < CWR) {
		tp->undo_marker = 0;
		init_cwnd_reduction();
		set_ca_state(CWR);
	}
}

static void enter_recovery(int ece)
{
	tp->prior_ssthresh = 0;
	tp->undo_marker = tp->snd_una;
	if (icsk->icsk_ca_state != CWR && icsk->icsk_ca_state != RECOVERY) {
		if (!ece)
			tp->prior_ssthresh = current_ssthresh();
		init_cwnd_reduction();
	}
	set_ca_state(RECOVERY);
}

static void enter_loss(void)
{
	for (u32 i = tp->snd_una; i != tp->snd_nxt; i++)
		board[i] = board[i] & SACK ? SACK : LOST;
	tally();
	if (icsk->icsk_ca_state <= DISORDER || !after(tp->high_seq, tp->snd_una) ||
	    (icsk->icsk_ca_state == LOSS && !icsk->icsk_retransmits)) {
		tp->prior_ssthresh = current_ssthresh();
		tp->prior_cwnd = tp->snd_cwnd;
		tp->snd_ssthresh = CALL(tresse_cut);
		CALL(tresse_event, 3); /* CA_EVENT_LOSS */
		tp->undo_marker = tp->snd_una;
	}
	tp->snd_cwnd = in_flight() + 1;
	set_ca_state(LOSS);
	tp->high_seq = tp->snd_nxt;
	icsk->icsk_retransmits++;
}

static void undo(void)
{
	if (!tp->undo_marker || icsk->icsk_ca_state <= CWR)
		return;
	for (u32 i = tp->snd_una; i != tp->snd_nxt; i++)
		board[i] &= SACK;
	tally();
	if (tp->prior_ssthresh) {
		tp->snd_cwnd = CALL(tresse_undo);
		tp->snd_ssthresh = max_u32(tp->snd_ssthresh, tp->prior_ssthresh);
	}
	tp->undo_marker = 0;
	set_ca_state(OPEN);
}

static void fastretrans_alert(int ece)
{
	if (ece)
		tp->prior_ssthresh = 0; /* an undo restores no window */
	if (icsk->icsk_ca_state != OPEN && !after(tp->high_seq, tp->snd_una)) {
		if (icsk->icsk_ca_state == CWR) {
			if (tp->snd_una != tp->high_seq) {
				end_cwnd_reduction();
				set_ca_state(OPEN);
			}
		} else if (icsk->icsk_ca_state == RECOVERY) {
			end_cwnd_reduction();
			set_ca_state(OPEN);
		} else if (icsk->icsk_ca_state == LOSS) {
			set_ca_state(OPEN);
		}
	}
	if (icsk->icsk_ca_state == RECOVERY || icsk->icsk_ca_state == LOSS)
		return;
	if (tp->lost_out) {
		enter_recovery(ece);
		return;
	}
	if (ece)
		enter_cwr();
	if (icsk->icsk_ca_state != CWR && icsk->icsk_ca_state != (tp->sacked_out ? DISORDER : OPEN)) {
		set_ca_state(tp->sacked_out ? DISORDER : OPEN);
		tp->high_seq = tp->snd_nxt;
	}
}

static void cwnd_reduction(u32 delivered, int advanced)
{
	int delta = (int)tp->snd_ssthresh - (int)in_flight(), sent;

	tp->prr_delivered += delivered;
	if (delta < 0) {
		u64 dividend = (u64)tp->snd_ssthresh * tp->prr_delivered + tp->prior_cwnd - 1;

		sent = (int)(dividend / tp->prior_cwnd) - (int)tp->prr_out;
	} else {
		sent = (int)tp->prr_delivered - (int)tp->prr_out;
		sent = sent > (int)delivered ? sent : (int)delivered;
		sent += advanced;
		sent = sent < delta ? sent : delta;
	}
	if (sent < (tp->prr_out ? 0 : 1))
		sent = tp->prr_out ? 0 : 1;
	tp->snd_cwnd = in_flight() + sent;
}

/* `una` and the segments from `sacked` up to three more are ACKed. */
static void ack(u32 una, u32 sacked, int ece)
{
	u32 delivered = 0, advanced = una != tp->snd_una;

	for (u32 i = tp->snd_una; i != una; i++)
		delivered += !(board[i] & SACK);
	for (u32 i = sacked; i < sacked + 3; i++) {
		if (!sacked || i >= tp->snd_nxt)
			break;
		delivered += !(board[i] & SACK);
		board[i] = SACK;
	}
	tp->snd_una = una;
	if (advanced)
		icsk->icsk_retransmits = 0;
	tp->delivered += delivered;
	if (ece)
		tp->delivered_ce += delivered;
	tally();
	CALL(tresse_ack, ece ? CA_ACK_ECE : 0);
	for (u32 i = tp->snd_una; sacked && i < sacked; i++)
		board[i] |= board[i] & SACK ? 0 : LOST;
	tally();
	fastretrans_alert(ece);
	if (icsk->icsk_ca_state == CWR || icsk->icsk_ca_state == RECOVERY)
		cwnd_reduction(delivered, advanced);
	else if (advanced)
		CALL(tresse_grow, tp->snd_una, delivered);
}

/* The next ACK that advances by a segment, and beyond all that is SACKed after it. */
static u32 next(void)
{
	u32 una = tp->snd_una + 1;

	while (una != tp->snd_nxt && board[una] & SACK)
		una++;
	return una;
}

static void play(const char *event)
{
	if (!strcmp(event, "ack"))
		ack(next(), 0, 0);
	else if (!strcmp(event, "mark"))
		ack(next(), 0, 1);
	else if (!strcmp(event, "edge"))
		ack(after(START + WINDOW, tp->snd_una) ? START + WINDOW : next(), 0, 0);
	else if (!strcmp(event, "loss"))
		ack(tp->snd_una, tp->snd_una + 1, 0);
	else if (!strcmp(event, "local"))
		enter_cwr();
	else if (!strcmp(event, "timeout"))
		enter_loss();
	else if (!strcmp(event, "undo"))
		undo();
	transmit();
	/* A cut that is being made has its window here; ssthresh is 1 until then (cut.h). */
	u32 target = wrapper_of((struct sock *)tp)->target;

	printf("%llx %u %u;", (unsigned long long)wrapper_of((struct sock *)tp)->word,
	       target ? target : tp->snd_ssthresh, icsk->icsk_ca_state);
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		memset(&tcp, 0, sizeof(tcp));
		memset(board, 0, sizeof(board));
		memset(counted, 0, sizeof(counted));
		tp->snd_una = tp->snd_nxt = tp->high_seq = START;
		tp->snd_cwnd = WINDOW;
		tp->snd_ssthresh = WINDOW / 2;
		tp->snd_cwnd_clamp = ~0u;
		tp->ecn_flags = TCP_ECN_OK;
		tp->mss_cache = 1460;
		tp->srtt_us = 8000;
		tp->rtt_min.s[0].v = tp->rack.rtt_us = 1000;
		tp->is_cwnd_limited = 1;
		icsk->sk.__sk_common.skc_state = TCP_ESTABLISHED;
		CALL(tresse_init);
		transmit();
		for (char *event = strtok(line, " \n"); event; event = strtok(NULL, " \n"))
			play(event);
		printf("%llu\n", counted[TIMEOUTS]);
	}
	return 0;
}
