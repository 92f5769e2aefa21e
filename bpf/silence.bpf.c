/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Reports subflows that have data in flight and have heard nothing for too long: timer_1 of
 * MPTCP_OPN (Algorithm 1), which user space would notice only at its next look.
 *
 * A subflow of a connection in `watched` has a timer, which an RTT sample starts. While ACKs come,
 * the timer starts itself again. Without data in flight, or after a record in `alarms`, it rests
 * until the next sample. crates/linux/src/silence.rs has the layouts.
 */
#include "compat.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define SUBFLOWS 65536
#define CLOCK_MONOTONIC 1
/* A timer that is shorter would cost more than it tells. */
#define SHORTEST_NS 50000

/* By the tokens of connections: how long silence may last, ns; 0: twice the subflow's srtt. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SUBFLOWS);
	__type(key, __u32);
	__type(value, __u64);
} watched SEC(".maps");

struct subflow {
	struct bpf_timer timer;
	__u64 silence; /* ns */
	__u64 socket;  /* its address; another socket may be there by now */
	__u64 cookie;
	__u32 token;
	__u16 local_port, remote_port;
	__u32 runs;
};

/* By the cookies of sockets. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SUBFLOWS);
	__type(key, __u64);
	__type(value, struct subflow);
} subflows SEC(".maps");

struct alarm {
	__u64 heard; /* its last ACK of new data, ns of CLOCK_MONOTONIC */
	__u32 token;
	__u16 local_port, remote_port;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} alarms SEC(".maps");

static int expire(void *map, __u64 *key, struct subflow *own)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)own->socket;
	__u64 cookie = 0, heard = 0, now;
	struct alarm *alarm;
	__u32 in_flight = 0;

	/* First, so that a sample which comes from now on starts the timer itself. */
	*(volatile __u32 *)&own->runs = 0;
	BPF_CORE_READ_INTO(&in_flight, tp, packets_out);
	BPF_CORE_READ_INTO(&heard, tp, delivered_mstamp);
	BPF_CORE_READ_INTO(&cookie, (const struct sock *)tp, __sk_common.skc_cookie.counter);
	if (cookie != own->cookie || !bpf_map_lookup_elem(&watched, &own->token)) {
		bpf_map_delete_elem(map, key);
		return 0;
	}
	if (!in_flight)
		return 0;
	now = bpf_ktime_get_ns();
	heard *= 1000;
	if (heard + own->silence > now) {
		own->runs = 1;
		bpf_timer_start(&own->timer, heard + own->silence - now, 0);
		return 0;
	}
	alarm = bpf_ringbuf_reserve(&alarms, sizeof(*alarm), 0);
	if (!alarm)
		return 0; /* user space is busy with those before, and will look at all */
	*alarm = (struct alarm){ heard, own->token, own->local_port, own->remote_port };
	bpf_ringbuf_submit(alarm, 0);
	return 0;
}

/* The subflow of a socket, new if it has none. */
static __always_inline struct subflow *subflow_of(struct bpf_sock_ops *skops, __u64 cookie)
{
	struct subflow *own = bpf_map_lookup_elem(&subflows, &cookie);
	struct subflow new = {};

	if (own || bpf_map_update_elem(&subflows, &cookie, &new, BPF_NOEXIST))
		return own;
	own = bpf_map_lookup_elem(&subflows, &cookie);
	if (!own)
		return 0;
	bpf_timer_init(&own->timer, &subflows, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&own->timer, expire);
	own->local_port = skops->local_port;
	own->remote_port = bpf_ntohl(skops->remote_port);
	own->cookie = cookie;
	return own;
}

static __always_inline void hear(struct bpf_sock_ops *skops, struct bpf_sock *sk)
{
	struct mptcp_sock *connection = bpf_skc_to_mptcp_sock(sk);
	__u64 cookie = bpf_get_socket_cookie(skops), *silence;
	struct subflow *own;
	__u32 token;

	if (!connection)
		return; /* it has fallen back to TCP */
	token = connection->token;
	silence = bpf_map_lookup_elem(&watched, &token);
	if (!silence)
		return;
	own = subflow_of(skops, cookie);
	if (!own)
		return;
	own->token = token;
	own->socket = (__u64)bpf_skc_to_tcp_sock(sk);
	own->silence = *silence ? *silence : 2000ULL * (skops->srtt_us >> 3);
	if (own->silence < SHORTEST_NS)
		own->silence = SHORTEST_NS;
	if (!own->runs) {
		own->runs = 1;
		bpf_timer_start(&own->timer, own->silence, 0);
	}
}

SEC("sockops")
int tresse_silence(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;
	__u64 cookie;

	if (!sk)
		return 1;
	switch (skops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		if (bpf_skc_to_mptcp_sock(sk))
			bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags |
							 BPF_SOCK_OPS_RTT_CB_FLAG |
							 BPF_SOCK_OPS_STATE_CB_FLAG);
		break;
	case BPF_SOCK_OPS_RTT_CB:
		hear(skops, sk);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (skops->args[1] == TCP_CLOSE) {
			cookie = bpf_get_socket_cookie(skops);
			bpf_map_delete_elem(&subflows, &cookie);
		}
		break;
	}
	return 1;
}
