/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * One hook of a controller's eBPF build, called from user space
 * (`tresse controller trace --host bpf`, through BPF_PROG_TEST_RUN): the hook's input is in `call`
 * and `siblings`, and its effects are read back from there. crates/linux/src/trace.rs has the same
 * layout.
 */
#define TRESSE_BPF
#include "compat.h"
#include "controller.h"
#include CONTROLLER_FILE

char _license[] SEC("license") = "Dual MIT/GPL";

static const struct controller *const controller = &CONTROLLER_ID;

enum hook { INIT, ACK, GROW, CONGESTION, TIMEOUT };

struct call {
	u32 hook, cause, window;
	u32 cwnd, ssthresh, srtt, min_rtt, in_flight;
	u32 mss, state, cwnd_limited, next_hop, alone, index;
	struct ack ack;
	u64 word;
	u64 private_words[PRIVATE_WORDS];
	/* The others; the subflow itself is put before them. */
	struct siblings siblings;
};

struct call call SEC(".data.call") = {};

static struct siblings *siblings_of(const struct subflow *s)
{
	call.siblings.peers[0] = (struct peer){ s->cwnd, s->srtt, s->word };
	return &call.siblings;
}

static u32 place_of(const struct subflow *s)
{
	return call.index;
}

SEC("syscall")
int tresse_hook(void *context)
{
	struct subflow s = {
		.cwnd = call.cwnd,
		.ssthresh = call.ssthresh,
		.srtt = call.srtt,
		.min_rtt = call.min_rtt,
		.in_flight = call.in_flight,
		.mss = call.mss,
		.state = call.state,
		.cwnd_limited = call.cwnd_limited,
		.next_hop = call.next_hop,
		.alone = call.alone,
		.word = call.word,
		.private_words = call.private_words,
	};
	struct ack a = call.ack;

	call.window = s.cwnd;
	if (call.hook == INIT && controller->init)
		controller->init(&s);
	else if (call.hook == ACK && controller->ack)
		controller->ack(&s, &a);
	else if (call.hook == GROW && controller->grow)
		controller->grow(&s, &a);
	else if (call.hook == CONGESTION && controller->congestion)
		call.window = controller->congestion(&s, call.cause);
	else if (call.hook == TIMEOUT && controller->timeout)
		controller->timeout(&s);
	call.cwnd = s.cwnd;
	call.word = s.word;
	call.alone = s.alone;
	return 0;
}
