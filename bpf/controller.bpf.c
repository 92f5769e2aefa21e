/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Turns one controller into a congestion control of the Linux kernel (tcp_congestion_ops); a socket
 * is a subflow. Built once for each controller:
 *
 *   clang -target bpf -DCONTROLLER_FILE='"xmp.c"' -DCONTROLLER_ID=tresse_controller_xmp …
 *
 * The kernel's callbacks and the corresponding hooks of controller.h:
 *
 *   in_ack_event   `ack`, with the packets delivered and the CE marks counted since the last one
 *   ssthresh       `congestion`: a loss if packets are marked lost, else a mark if the ACK at hand
 *                  carries an echo, else a drop in the host's own queue; asked once a window. The
 *                  kernel reduces by PRR after a loss; after a mark the cut is at once (begin_cut)
 *   set_state      `congestion` for a loss that meets a reduction, of which the kernel asks nothing;
 *                  Loss: `timeout` (CA_EVENT_LOSS comes only where `ssthresh` was asked too)
 *   cwnd_event     ECN_IS_CE, ECN_NO_CE: the receiver's exact echo
 *   cong_avoid     `grow`, if the window was the limit
 *   undo_cwnd      the window before a reduction that was not needed
 *
 * A plain TCP socket, or one that fell back from MPTCP to TCP, is a connection of one subflow.
 */
#define TRESSE_BPF
#include "compat.h"
#include "controller.h"
#include CONTROLLER_FILE
#include "wrapper.h"
#include "siblings.h"
#include "registration.h"

char _license[] SEC("license") = "Dual MIT/GPL";

static const struct controller *const controller = &CONTROLLER_ID;

/* The kernel passes the arguments of a hook as an array of u64. */
#define HOOK SEC("struct_ops")
#define ARGUMENTS unsigned long long *arguments
#define SOCKET ((struct sock *)arguments[0])

static __always_inline struct subflow view(struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);
	struct subflow s = {
		.cwnd = window(tp->snd_cwnd),
		.ssthresh = tp->snd_ssthresh,
		.srtt = tp->srtt_us ? bounded(tp->srtt_us, SRTT_LEAST, SRTT_LIMIT) : 0,
		.min_rtt = eighths(tp->rtt_min.s[0].v),
		.in_flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out,
		.mss = max_u32(tp->mss_cache, 1),
		.state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state),
		/* As tcp_is_cwnd_limited(): in slow start the window may reach twice what was used. */
		.cwnd_limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ||
				(tp->snd_cwnd < tp->snd_ssthresh &&
				 tp->snd_cwnd < 2 * tp->max_packets_out),
		.word = w->word,
		.private_words = w->controller,
		.socket = sk,
	};

	return s;
}

/* Whether the ACK at hand is beyond the window that was cut, so that the kernel will leave CWR. */
static __always_inline int cwr_ends(struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;

	return BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state) == CWR &&
	       after(tp->snd_una, tp->high_seq);
}

static __always_inline void done(struct subflow *s, struct wrapper *w)
{
	w->word = s->word;
	if (s->siblings)
		s->siblings->busy = 0;
}

static __always_inline void begin(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);

	if (tp->snd_cwnd >= CWND_LIMIT)
		tp->snd_cwnd = CWND_LIMIT - 1;
	w->word = 0;
	w->delivered = tp->delivered;
	w->delivered_ce = tp->delivered_ce;
	w->round_end = tp->snd_nxt;
	w->event_end = tp->snd_una - 1;
	w->last_cwnd = window(tp->snd_cwnd);
	w->prior_rcv_nxt = tp->rcv_nxt;
	w->marked = 0;
	w->echoed = 0;
	w->round_seen = 0;
	w->ce_state = 0;
	w->held = 0;
	w->ignoring = 0;
	w->probed = 0;
	w->target = 0;
	for (int i = 0; i < PRIVATE_WORDS; i++)
		w->controller[i] = 0;
	w->ready = READY;
	if (controller->init) {
		struct subflow s = view(sk);

		controller->init(&s);
		done(&s, w);
	}
}

HOOK void tresse_init(ARGUMENTS)
{
	struct sock *sk = SOCKET;

	if (controller->signals & (SIGNAL_ECN | SIGNAL_CE_EXACT) &&
	    !(((struct tcp_sock *)sk)->ecn_flags & (TCP_ECN_OK | TCP_ECN_ACCECN))) {
		char reno[] = "reno";

		/* Marks that nobody echoes would have no effect, so the packets must not carry ECT. */
		count(WITHOUT_ECN);
		bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
		return;
	}
	count(SOCKETS_BEGUN);
	begin(sk);
}

HOOK void tresse_release(ARGUMENTS)
{
	struct wrapper *w = wrapper_of(SOCKET);

	if (w->ready == READY)
		count(SOCKETS_ENDED);
	w->ready = 0;
}

#include "cut.h"

/* The `grow` hook for `delivered` packets; returns the resulting window. */
static __always_inline u32 grown(struct sock *sk, struct wrapper *w, struct subflow *s, u32 delivered)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct ack a = {
		.delivered = delivered,
		.marked = w->marked,
		.rtt = eighths(tp->rack.rtt_us),
		.new_round = w->round_seen,
		.now = tp->tcp_mstamp,
	};

	w->round_seen = 0;
	if (controller->grow)
		controller->grow(s, &a);
	done(s, w);
	s->cwnd = window(s->cwnd);
	return s->cwnd < tp->snd_cwnd_clamp ? s->cwnd : tp->snd_cwnd_clamp;
}

/* The kernel asks for no growth in CWR, but an ignored mark must not prevent any. */
static __always_inline void grow_in_cwr(struct sock *sk, struct wrapper *w, u32 delivered)
{
	u8 state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	struct subflow s = before_reduction(sk);

	if (cwr_ends(sk) && !w->echoed)
		return; /* it will ask after this ACK */
	if (state == CWR && delivered && s.cwnd_limited)
		((struct tcp_sock *)sk)->snd_ssthresh = grown(sk, w, &s, delivered);
}

/* Counts what the current ACK delivers and marks; returns the packets delivered. */
static __always_inline u32 count_delivered(struct sock *sk, struct wrapper *w)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct ack a = {};

	a.delivered = (u16)(tp->delivered - w->delivered);
	if (!a.delivered)
		return 0; /* a pure receiver, or an ACK of nothing */
	a.marked = (u16)(tp->delivered_ce - w->delivered_ce);
	a.rtt = eighths(tp->rack.rtt_us);
	a.new_round = after(tp->snd_una, w->round_end);
	a.now = tp->tcp_mstamp;
	w->delivered += a.delivered;
	w->delivered_ce += a.marked;
	w->marked = a.marked < 0x7ff ? a.marked : 0x7ff;
	if (a.new_round) {
		w->round_end = tp->snd_nxt;
		w->round_seen = 1;
		/* Kept close, so that it never seems to be ahead when sequence numbers wrap. */
		if (after(tp->snd_una, w->event_end))
			w->event_end = tp->snd_una - 1;
	}
	if (controller->ack) {
		struct subflow s = view(sk);

		/* tcp_fastretrans_alert() will leave CWR, before it looks at this ACK's echo. */
		if (cwr_ends(sk)) {
			s.state = OPEN;
			s.cwnd = window(w->target ? w->target : s.ssthresh);
		}
		controller->ack(&s, &a);
		done(&s, w);
	}
	return a.delivered;
}

HOOK void tresse_ack(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);
	u32 delivered;

	if (w->ready != READY)
		return;
	repair(sk, w);
	w->last_cwnd = window(tp->snd_cwnd);
	w->echoed = !!((u32)arguments[1] & CA_ACK_ECE);
	/* As tcp_process_tlp_ack() will find next. */
	w->probed = tp->tlp_high_seq && after(tp->snd_una, tp->tlp_high_seq) &&
		    BPF_CORE_READ_BITFIELD(tp, tlp_retrans);
	delivered = count_delivered(sk, w);
	if (w->target | w->held)
		go_on_with_cut(sk, w);
	if (controller->exceptions & EXCEPTION_IGNORES_MARK && w->ignoring)
		grow_in_cwr(sk, w, delivered);
}

HOOK void tresse_grow(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);
	struct subflow s;

	if (w->ready != READY) {
		if (sk->__sk_common.skc_state == TCP_ESTABLISHED)
			count(REPAIRS);
		begin(sk);
		return;
	}
	s = view(sk);
	if (!s.cwnd_limited)
		return;
	tp->snd_cwnd = grown(sk, w, &s, (u32)arguments[2]);
	w->last_cwnd = tp->snd_cwnd;
}

HOOK u32 tresse_cut(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);
	struct subflow s = view(sk);
	/* A loss repaired by a probe is shown only by the probe's ACK. */
	u32 lost = tp->lost_out || w->probed;
	u32 ssthresh;

	if (w->ready != READY)
		return half_window(&s);
	w->probed = 0;
	if (!lost && w->echoed) {
		if (!after(tp->snd_una, w->event_end)) {
			w->held = 1;
			return s.cwnd;
		}
		w->target = 0;
		ssthresh = begin_cut(sk, w, &s);
		done(&s, w);
		return ssthresh;
	}
	w->target = 0;
	w->held = 0;
	w->ignoring = 0;
	w->event_end = tp->snd_nxt;
	count(lost ? CUTS_BY_LOSS : CUTS_BY_LOCAL_DROP);
	ssthresh = ordinary_cut(&s, lost ? LOSS_EVENT : LOCAL);
	done(&s, w);
	return ssthresh;
}

/*
 * In a reduction the kernel asks for no other one, although a loss may need a deeper one than the
 * mark that began it; nor for one after a timeout, unless everything that the reduction was for is
 * ACKed. It enters Loss for each timeout, with the window already lowered. (And for packets that have
 * become too large for the path: Linux's CUBIC takes these for timeouts too.)
 */
HOOK void tresse_state(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);
	u8 state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	u8 next = (u8)arguments[1];

	if (w->ready != READY)
		return;
	if (state == CWR && (next == RECOVERY || (next == LOSS && after(tp->high_seq, tp->snd_una))))
		meet_loss(sk, w);
	if (next == LOSS) {
		count(TIMEOUTS);
		if (controller->timeout) {
			struct subflow s = view(sk);

			s.state = LOSS;
			controller->timeout(&s);
			done(&s, w);
		}
	}
}

/*
 * The exact echo (RFC 8257 §3.2): each ACK says whether the packets that it covers were marked.
 * When this changes, a pending ACK is sent first, in the old state.
 */
static __always_inline void echo(struct sock *sk, u8 marked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct wrapper *w = wrapper_of(sk);

	if (tp->ecn_flags & TCP_ECN_ACCECN)
		return; /* AccECN counts marks itself */
	if (w->ce_state != marked) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			if (w->ce_state)
				tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			else
				tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			bpf_tcp_send_ack(tp, w->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	w->prior_rcv_nxt = tp->rcv_nxt;
	w->ce_state = marked;
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

HOOK void tresse_event(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	struct wrapper *w = wrapper_of(sk);
	u32 event = (u32)arguments[1];

	if (w->ready != READY || !(controller->signals & SIGNAL_CE_EXACT))
		return;
	if (event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_ECN_IS_CE))
		echo(sk, 1);
	else if (event == bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_ECN_NO_CE))
		echo(sk, 0);
}

HOOK u32 tresse_undo(ARGUMENTS)
{
	struct sock *sk = SOCKET;
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct wrapper *w = wrapper_of(sk);

	count(UNDONE);
	if (w->ready == READY)
		w->event_end = tp->snd_una - 1; /* no mark belongs to that cut any more */
	return max_u32(tp->snd_cwnd, tp->prior_cwnd);
}

/* crates/linux/src/attach.rs writes the name and the flags before it is loaded. */
SEC(".struct_ops.link")
struct tcp_congestion_ops tresse = {
	.init = (void *)tresse_init,
	.release = (void *)tresse_release,
	.ssthresh = (void *)tresse_cut,
	.cong_avoid = (void *)tresse_grow,
	.set_state = (void *)tresse_state,
	.cwnd_event = (void *)tresse_event,
	.in_ack_event = (void *)tresse_ack,
	.undo_cwnd = (void *)tresse_undo,
	.name = "tr_unnamed",
};
