/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Lists the sockets of a network namespace that a controller of ours governs: an iterator over its
 * TCP sockets that writes one record for each. crates/linux/src/sockets.rs has the same layout.
 */
#include "compat.h"

char _license[] SEC("license") = "Dual MIT/GPL";

struct record {
	char name[16];        /* of the congestion control */
	__u32 token;          /* of the MPTCP connection; 0 for plain TCP */
	__u32 cwnd, ssthresh, srtt, delivered_ce;
	__u8 local[16], remote[16]; /* addresses; IPv4 in the first four bytes */
	__u16 local_port, remote_port;
	__u8 family, state, mptcp, pad;
};

SEC("iter/tcp")
int tresse_sockets(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	const struct inet_connection_sock *icsk;
	const struct tcp_sock *tp;
	struct record r = {};

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0; /* a request or a time-wait socket */
	icsk = (const struct inet_connection_sock *)tp;
	bpf_probe_read_kernel_str(r.name, sizeof(r.name), icsk->icsk_ca_ops->name);
	if (r.name[0] != 't' || r.name[1] != 'r' || r.name[2] != '_')
		return 0;
	r.cwnd = tp->snd_cwnd;
	r.ssthresh = tp->snd_ssthresh;
	r.srtt = tp->srtt_us;
	r.delivered_ce = tp->delivered_ce;
	r.state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
	r.family = common->skc_family;
	r.local_port = common->skc_num;
	r.remote_port = bpf_ntohs(common->skc_dport);
	if (r.family == AF_INET6) {
		__builtin_memcpy(r.local, &common->skc_v6_rcv_saddr, 16);
		__builtin_memcpy(r.remote, &common->skc_v6_daddr, 16);
	} else {
		__builtin_memcpy(r.local, &common->skc_rcv_saddr, 4);
		__builtin_memcpy(r.remote, &common->skc_daddr, 4);
	}
	if (tp->is_mptcp) {
		const struct mptcp_subflow_context *context =
			bpf_core_cast(icsk->icsk_ulp_data, struct mptcp_subflow_context);

		r.mptcp = 1;
		r.token = bpf_core_cast(context->conn, struct mptcp_sock)->token;
	}
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
