/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* How a window is cut and repaired: the layer between the kernel's reductions and `congestion`. */
#ifndef TRESSE_CUT_H
#define TRESSE_CUT_H

/*
 * Some kernels skip a program at times (because of a guard; stock kernels do not). A skipped
 * `ssthresh` or `undo_cwnd` leaves a random value from the stack instead. A value that no
 * controller can have requested is repaired here, before the kernel acts on it.
 */
static __always_inline void repair(struct sock *sk, struct wrapper *w)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u8 state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	u32 largest = max_u32(max_u32(w->last_cwnd, tp->prior_cwnd), 10);

	if (tp->snd_cwnd >= CWND_LIMIT || tp->snd_cwnd > 2 * largest) {
		tp->snd_cwnd = window(w->last_cwnd / 2);
		count(REPAIRS);
	}
	/* In a reduction ssthresh is a cut of prior_cwnd, unless another control began it without one;
	   undo_marker is 0 once it was undone. */
	if (!w->target && !w->ignoring && (state == CWR || (state > CWR && tp->undo_marker)) &&
	    tp->snd_ssthresh != INFINITE_SSTHRESH &&
	    (!tp->snd_ssthresh || tp->snd_ssthresh > max_u32(tp->prior_cwnd, controller->min_cwnd))) {
		tp->snd_ssthresh = max_u32(w->last_cwnd / 2, 2);
		count(REPAIRS);
	}
}

/* The subflow with the window that it had before PRR lowered it, or to which it has risen since. */
static __always_inline struct subflow before_reduction(struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct subflow s = view(sk);

	s.cwnd = window(wrapper_of(sk)->ignoring ? tp->snd_ssthresh : tp->prior_cwnd);
	s.ssthresh = s.cwnd;
	return s;
}

/* The window after a cut, not above its old value, nor above the controller's floor; or IGNORE_MARK. */
static __always_inline u32 ordinary_cut(struct subflow *s, enum cause cause)
{
	u32 largest = max_u32(s->cwnd, controller->min_cwnd);
	u32 answer = controller->congestion ? controller->congestion(s, cause) : s->cwnd;

	if (controller->exceptions & EXCEPTION_IGNORES_MARK && cause == MARK && answer == IGNORE_MARK)
		return IGNORE_MARK;
	return window(answer < largest ? answer : largest);
}

/*
 * A cut after a mark is made at once, as in XMP's Algorithm 1. The kernel would spread it over a
 * round (PRR): it would keep sending into a queue that is still too long, including the first
 * packet of the next window, whose mark would cause another cut. So ssthresh is first 1, at which
 * PRR sends only the one packet that it always sends, and becomes the window when no more than this
 * is in flight.
 *
 * Packets sent until then belong to the cut: their later marks are not answered. For them the
 * kernel enters CWR again, a round without growth in which nothing is cut (it is held), unless a
 * later packet is marked or lost.
 *
 * A mark that the controller ignores still puts the kernel into CWR. There the window follows
 * ssthresh, so it keeps rising there (grow_in_cwr), and every marked ACK asks again.
 */
static __always_inline u32 begin_cut(struct sock *sk, struct wrapper *w, struct subflow *s)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 after_cut = ordinary_cut(s, MARK);

	w->held = after_cut == IGNORE_MARK;
	w->ignoring = w->held;
	if (w->ignoring) {
		w->event_end = tp->snd_una - 1;
		return s->cwnd;
	}
	count(CUTS_BY_MARK);
	w->event_end = tp->snd_nxt;
	if (after_cut >= s->in_flight)
		return after_cut;
	w->target = after_cut;
	return 1;
}

static __always_inline void go_on_with_cut(struct sock *sk, struct wrapper *w)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u8 state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	u32 in_flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;

	if (w->target) {
		u32 reducing = state == CWR || state == RECOVERY;

		if (reducing && in_flight > w->target && !after(tp->snd_una, tp->high_seq))
			return;
		tp->snd_ssthresh = w->target;
		if (state < CWR)
			tp->snd_cwnd = w->target; /* the hook that should have done it was skipped */
		w->target = 0;
		w->event_end = tp->snd_nxt;
	} else if (w->held && state != CWR) {
		w->held = 0;
		w->ignoring = 0;
	} else if (w->held && w->echoed && after(tp->snd_una, w->event_end)) {
		struct subflow s = before_reduction(sk);

		tp->snd_ssthresh = begin_cut(sk, w, &s);
		done(&s, w);
	}
}

/*
 * A loss or a timeout during CWR. A held CWR has had no cut: this is the cut. Otherwise the window
 * becomes what the loss alone would have left of the earlier window, if that is less (RFC 8257
 * §3.5); if not, the controller's state is as if it had not been asked: a window is cut once (RFC
 * 3168 §6.1.2).
 */
static __always_inline void meet_loss(struct sock *sk, struct wrapper *w)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct subflow s = before_reduction(sk);
	u32 reduced = w->target ? w->target : tp->snd_ssthresh;
	u64 saved[PRIVATE_WORDS], word = s.word;
	u32 after_cut;

	for (int i = 0; i < PRIVATE_WORDS; i++)
		saved[i] = w->controller[i];
	after_cut = ordinary_cut(&s, LOSS_EVENT);
	if (w->held || after_cut < reduced) {
		if (w->target)
			w->target = after_cut;
		else
			tp->snd_ssthresh = after_cut;
		count(CUTS_BY_LOSS);
	} else {
		for (int i = 0; i < PRIVATE_WORDS; i++)
			w->controller[i] = saved[i];
		s.word = word;
	}
	done(&s, w);
	w->held = 0;
	w->ignoring = 0;
}

#endif
