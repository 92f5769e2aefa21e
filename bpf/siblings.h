/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The subflows of a connection, found by walking the MPTCP socket's own list.
 *
 * The walk holds no lock. It is safe because the program runs inside an RCU read section, and a
 * subflow's context is freed only after one; the memory of sockets is never reused for another type
 * inside one; and a faulting load through these pointers reads 0. So a walk may meet a subflow that
 * is leaving (its `next` is poison: the walk ends), or a socket that already serves another
 * connection (it no longer names this context as its own: it is skipped). It cannot read beyond,
 * and cannot loop: it ends after MAX_SUBFLOWS subflows.
 *
 * Nothing is kept between two walks, so nothing can leak. A map of snapshots by token would cost a
 * hash look-up for each hook, and an entry would leak whenever a `release` does not come.
 */
#ifndef TRESSE_SIBLINGS_H
#define TRESSE_SIBLINGS_H

/*
 * Three for each core: a softirq may interrupt a hook that runs in a process's context, and in a
 * preemptible kernel, so may another process.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3);
	__type(key, u32);
	__type(value, struct siblings);
} scratch SEC(".maps");

static __always_inline struct siblings *claim(u32 key)
{
	struct siblings *all = bpf_map_lookup_elem(&scratch, &key);

	return all && !__sync_val_compare_and_swap(&all->busy, 0, 1) ? all : NULL;
}

/* The sibling's state, if it can send and has the same controller. */
static __always_inline void snapshot(const struct sock *own, const struct sock *msk,
				     const struct mptcp_subflow_context *context, struct peer *p)
{
	const struct sock *sk = context->tcp_sock;
	const struct inet_connection_sock *icsk;
	const struct wrapper *w;
	const struct tcp_sock *tp;
	u8 state;

	p->srtt = 0; /* "skip" */
	if (!sk || sk == own || context->conn != msk || BPF_CORE_READ_BITFIELD(context, stale))
		return;
	if (BPF_CORE_READ_BITFIELD(context, request_join) &&
	    !BPF_CORE_READ_BITFIELD(context, fully_established))
		return;
	tp = bpf_core_cast(sk, struct tcp_sock);
	icsk = (const struct inet_connection_sock *)tp;
	if (icsk->icsk_ulp_data != context ||
	    icsk->icsk_ca_ops != ((const struct inet_connection_sock *)own)->icsk_ca_ops)
		return;
	state = ((const struct sock *)tp)->__sk_common.skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		return;
	w = (const struct wrapper *)icsk->icsk_ca_priv;
	if (w->ready != READY || !tp->srtt_us)
		return;
	p->word = w->word;
	p->cwnd = window(tp->snd_cwnd);
	p->srtt = bounded(tp->srtt_us, SRTT_LEAST, SRTT_LIMIT);
}

static __noinline void gather(struct sock *sk, struct siblings *all)
{
	const struct mptcp_subflow_context *context;
	const struct list_head *head, *at;
	const struct sock *msk;
	int i;

	all->count = 1;
	if (!((struct tcp_sock *)sk)->is_mptcp)
		return;
	context = bpf_core_cast(((struct inet_connection_sock *)sk)->icsk_ulp_data,
				struct mptcp_subflow_context);
	msk = context->conn;
	head = &bpf_core_cast(msk, struct mptcp_sock)->conn_list;
	at = head->next;
	bpf_for(i, 0, MAX_SUBFLOWS) {
		if (at == head)
			return;
		if (!at)
			break;
		context = bpf_core_cast((const void *)at -
					bpf_core_field_offset(struct mptcp_subflow_context, node),
					struct mptcp_subflow_context);
		snapshot(sk, msk, context, &all->peers[i + 1]);
		all->count = i + 2;
		at = context->node.next;
	}
	if (at != head)
		count(WALKS_CUT_SHORT);
}

/* The kernel numbers subflows from 1, in the order in which they were created. */
static u32 place_of(const struct subflow *s)
{
	const struct sock *sk = s->socket;
	const struct mptcp_subflow_context *context;

	if (!((const struct tcp_sock *)sk)->is_mptcp)
		return 0;
	context = bpf_core_cast(((const struct inet_connection_sock *)sk)->icsk_ulp_data,
				struct mptcp_subflow_context);
	return context->subflow_id - 1;
}

static struct siblings *siblings_of(const struct subflow *const_s)
{
	struct subflow *s = (struct subflow *)const_s;

	if (!s->siblings) {
		s->siblings = claim(0);
		if (!s->siblings)
			s->siblings = claim(1);
		if (!s->siblings)
			s->siblings = claim(2);
		if (!s->siblings) {
			count(WALKS_CUT_SHORT);
			return NULL;
		}
		gather(s->socket, s->siblings);
	}
	s->siblings->peers[0] = (struct peer){ s->cwnd, s->srtt, s->word };
	return s->siblings;
}

#endif
