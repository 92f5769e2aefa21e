/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * The ECN marker (`tresse mark`): on its way out of a device, a packet passes a virtual queue and
 * is marked CE where a switch with that queue would mark it. crates/linux/src/mark/ has the same
 * layouts.
 *
 * A GSO packet counts with the headers of all its segments, and is marked as a whole.
 */
#include "compat.h"
#include "virtual_queue.h"

char _license[] SEC("license") = "Dual MIT/GPL";

enum match { ANY, DSCP, MARK };

struct rule {
	char name[16];
	__u32 match, value; /* enum match */
};

struct settings {
	__u64 rate; /* bit/s; the value given to user space; virtual_queue.h has its own unit */
	struct vq_config queue;
	struct rule rules[VQ_CLASSES];
};

/* Not const: the compiler would use the zeros. The section makes it read-only. */
struct settings settings SEC(".rodata.marker") = {};

struct counters {
	__u64 packets, bytes;
	__u64 marked;  /* packets that got CE here */
	__u64 not_ect; /* packets that found the queue above K and could not be marked */
};

struct state {
	struct bpf_spin_lock lock;
	__u32 pad;
	struct vq_state queue;
	struct counters counters[VQ_CLASSES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} tresse_queue SEC(".maps");

enum { NOT_ECT = 0, CE = 3 };

/* The byte that holds DSCP and ECN, or -1: not IP, or IP behind a VLAN tag within the packet. */
static inline int traffic_class(struct __sk_buff *skb)
{
	__u8 head[2];

	if (bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), BPF_HDR_START_NET))
		return -1;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return head[1];
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return (head[0] & 0xf) << 4 | head[1] >> 4;
	return -1;
}

/* The first class that the packet matches, otherwise the default class. */
static inline __u32 class_of(__u32 mark, int tos)
{
	__u32 i;

	for (i = 1; i < VQ_CLASSES && i < settings.queue.classes; i++) {
		const struct rule *r = &settings.rules[i];

		if (r->match == DSCP ? tos >= 0 && r->value == (__u32)tos >> 2 : r->value == mark)
			return i;
	}
	return 0;
}

SEC("tc")
int tresse_mark(struct __sk_buff *skb)
{
	__u32 zero = 0, class, bytes = skb->wire_len, packets = skb->gso_segs;
	int tos = traffic_class(skb), over;
	struct counters *counters;
	struct state *state;
	__u64 now;

	state = bpf_map_lookup_elem(&tresse_queue, &zero);
	class = class_of(skb->mark, tos);
	if (!state || class >= VQ_CLASSES)
		return TC_ACT_UNSPEC;
	counters = &state->counters[class];
	if (!packets)
		packets = 1;
	/* Before the lock, under which no helper may be called; vq_drain tolerates the disorder. */
	now = bpf_ktime_get_ns();

	bpf_spin_lock(&state->lock);
	over = vq_arrive(&settings.queue, &state->queue, class, bytes, now);
	counters->packets += packets;
	counters->bytes += bytes;
	bpf_spin_unlock(&state->lock);

	if (!over || tos < 0 || (tos & 3) == CE)
		return TC_ACT_UNSPEC;
	if ((tos & 3) == NOT_ECT)
		__sync_fetch_and_add(&counters->not_ect, packets);
	else if (bpf_skb_ecn_set_ce(skb))
		__sync_fetch_and_add(&counters->marked, packets);
	return TC_ACT_UNSPEC; /* continue with the next filter */
}
