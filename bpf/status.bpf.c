/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Lists the sockets of a network namespace whose congestion control is one of `names`: an iterator
 * over its TCP sockets that writes a record for each. crates/linux/src/sockets.rs has the layout.
 */
#include "compat.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define MAX_NAMES 32

/* A name of 16 bytes as two words, which compare quickly; set before the program is loaded. */
const volatile struct {
	__u64 words[2];
} names[MAX_NAMES] SEC(".rodata.names") = {};

struct record {
	__u32 which;                /* of `names` */
	__u32 token;                /* of the MPTCP connection; 0 for plain TCP */
	__u32 cwnd, srtt, delivered_ce;
	__u8 local[16], remote[16]; /* addresses; IPv4 in the first four bytes */
	__u16 local_port, remote_port;
	__u8 family, state, mptcp, pad;
};

_Static_assert(sizeof(struct record) == 60, "as sockets.rs has it");

SEC("iter/tcp")
int tresse_sockets(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	const struct inet_connection_sock *icsk;
	const struct tcp_sock *tp;
	struct record r = {};
	__u64 name[2] = {};
	int i, found = 0;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0; /* a request or a time-wait socket */
	if (common->skc_state == TCP_LISTEN)
		return 0;
	icsk = (const struct inet_connection_sock *)tp;
	bpf_probe_read_kernel(name, sizeof(name), icsk->icsk_ca_ops->name);
	bpf_for(i, 0, MAX_NAMES) {
		if (names[i].words[0] == name[0] && names[i].words[1] == name[1]) {
			r.which = i;
			found = 1;
			break;
		}
	}
	if (!found)
		return 0;
	r.cwnd = tp->snd_cwnd;
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
