/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The parts of the kernel that the programs here use, and every difference between kernels that
 * matters to them. Nothing else in bpf/ depends on a kernel's version.
 *
 * The structs below name only the members that are used. With `preserve_access_index`, the loader
 * finds each by name in the running kernel's own type information (CO-RE), so order and offsets do
 * not matter here.
 *
 * The oldest kernel is 6.12. The differences since then, and how they are handled:
 *
 *   after 6.12, in 6.18
 *         in_ack_event comes after the retransmit queue is cleaned, no longer before it (commit
 *         149dfb31615e): before, counts are one ACK late, as the kernel's own DCTCP's were.
 *         AccECN: ecn_flags bit 4 says that it was negotiated. Before, the bit is never set.
 *         fully_established became a bool of its own: bitfields are read by their place in the
 *         running kernel, whatever their kind is there.
 *   in 7.3
 *         TCP_ECN_OK is called TCP_ECN_MODE_RFC3168: the same bit 0.
 *         CA_EVENT_TX_START left cwnd_event for cwnd_event_tx_start. Not used here; the events that
 *         are used are looked up by name, so their numbers may move.
 */
#ifndef TRESSE_COMPAT_H
#define TRESSE_COMPAT_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_NOEXIST = 1,
};

/* The iterator of bpf_for and of FOR_EACH_SUBFLOW. */
struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

/* The context of a tc program: a stable interface with fixed offsets, up to the last member used. */
struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto;
	__u32 priority, ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end;
	__u32 napi_id, family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4];
	__u32 remote_port, local_port, data_meta;
	__u64 flow_keys, tstamp;
	__u32 wire_len, gso_segs;
};

struct bpf_spin_lock {
	__u32 val;
};

struct bpf_timer {
	__u64 opaque[2];
} __attribute__((aligned(8)));

/* The context of a sockops program: a stable interface with fixed offsets, up to the last member used. */
struct bpf_sock_ops {
	__u32 op, args[4];
	__u32 family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4], remote_port, local_port;
	__u32 is_fullsock, snd_cwnd, srtt_us, bpf_sock_ops_cb_flags, state;
	__u32 rtt_min, snd_ssthresh, rcv_nxt, snd_nxt, snd_una, mss_cache, ecn_flags;
	__u32 rate_delivered, rate_interval_us, packets_out, retrans_out, total_retrans, segs_in;
	__u32 data_segs_in, segs_out, data_segs_out, lost_out, sacked_out, sk_txhash;
	__u64 bytes_received, bytes_acked;
	struct bpf_sock *sk;
};

enum {
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_STATE_CB = 10,
	BPF_SOCK_OPS_RTT_CB = 12,
};

enum {
	BPF_SOCK_OPS_STATE_CB_FLAG = 1 << 2,
	BPF_SOCK_OPS_RTT_CB_FLAG = 1 << 3,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct in6_addr {
	__u8 s6_addr[16];
};

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
	__be32 skc_daddr, skc_rcv_saddr;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	struct {
		__s64 counter;
	} skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
};

struct tcp_congestion_ops___kernel {
	char name[16];
};

struct inet_connection_sock {
	const struct tcp_congestion_ops___kernel *icsk_ca_ops;
	void *icsk_ulp_data;
	__u8 icsk_ca_state: 5;
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	__u32 rtt_us;
};

struct tcp_sock {
	__u32 snd_cwnd, snd_ssthresh, snd_cwnd_clamp, prior_cwnd, undo_marker;
	__u32 lost_out, sacked_out, packets_out, retrans_out, max_packets_out;
	__u32 rcv_nxt, snd_nxt, snd_una, high_seq, srtt_us;
	__u32 delivered, delivered_ce;
	__u32 tlp_high_seq;
	__u32 mss_cache;
	__u64 tcp_mstamp, delivered_mstamp;
	__u8 is_cwnd_limited: 1, tlp_retrans: 1;
	__u8 ecn_flags;
	_Bool is_mptcp;
	struct minmax rtt_min;
	struct tcp_rack rack;
};

struct mptcp_subflow_context {
	struct list_head node;
	__u32 request_join: 1, fully_established: 1, stale: 1;
	__u32 subflow_id;
	struct sock *tcp_sock, *conn;
};

struct mptcp_sock {
	struct list_head conn_list;
	__u32 token;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

enum tcp_ca_event {
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};

/* The structure given to the kernel. Members are matched by name; omitted ones stay empty. */
struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 flags;
	char name[16];
};

/* crates/linux/src/attach.rs writes the flags and the name. */
_Static_assert(__builtin_offsetof(struct tcp_congestion_ops, flags) == 64 &&
	       __builtin_offsetof(struct tcp_congestion_ops, name) == 68, "as attach.rs has it");

/* Constants of the kernel that are not in its type information. */
#define AF_INET6 10
#define TCP_ESTABLISHED 1
#define TCP_CLOSE 7
#define TCP_CLOSE_WAIT 8
#define TCP_LISTEN 10
#define CA_ACK_ECE 4		/* in_ack_event: the ACK carries an ECN echo */
#define ICSK_ACK_TIMER 2	/* icsk_ack.pending: a delayed ACK waits */
#define ICSK_ACK_NOW 16		/* icsk_ack.pending: ACK at once */
#define TCP_ECN_OK 1		/* ecn_flags: RFC 3168's ECN was negotiated */
#define TCP_ECN_DEMAND_CWR 4	/* ecn_flags: ECE goes out with every ACK */
#define TCP_ECN_ACCECN 16	/* ecn_flags: AccECN was negotiated */
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TC_ACT_UNSPEC (-1)	/* a tc program has no verdict: the next filter's turn */
#define BPF_HDR_START_NET 1	/* bpf_skb_load_bytes_relative: from the network header */
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd

#endif
