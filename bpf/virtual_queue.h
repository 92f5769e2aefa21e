/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A virtual queue: how long the queue would be if the link had a given rate and shared it among
 * classes of service. Nothing waits in it; it decides which packets a switch there would mark.
 *
 * Classes share the rate as generalized processor sharing does (Parekh and Gallager 1993, a fluid
 * DRR): those with a backlog divide it by their weights, and unused shares go to the others. A
 * packet should be marked if its class's backlog, without the packet itself, is larger than the
 * class's threshold ("larger than K", XMP §2.1).
 *
 * Plain C without kernel types: bpf/mark.bpf.c runs it in the kernel, crates/linux natively.
 *
 * A size is a u64 in 2^-32 bytes, a time is ns. At 1 Mbit/s this gives the rate to 2 parts in a
 * million, and nine limits of 220 MiB stay below 2^63, which leaves room for the service of `idle`
 * ns: nothing here can overflow.
 */
#ifndef TRESSE_VIRTUAL_QUEUE_H
#define TRESSE_VIRTUAL_QUEUE_H

typedef unsigned int vq_u32;
typedef unsigned long long vq_u64;

/* Eight classes and the default one, which comes first. */
#define VQ_CLASSES 9

struct vq_class {
	vq_u64 limit;     /* where the backlog stops growing, 2^-32 bytes, at most 220 MiB */
	vq_u32 weight;    /* at least 1 */
	vq_u32 threshold; /* bytes; 0: the class's share of the whole queue's */
};

struct vq_config {
	vq_u64 drain;     /* 2^-32 bytes in one ns; not 0 */
	vq_u64 idle;      /* ns that empty every class from its limit, and not many more */
	vq_u32 threshold; /* of the whole queue, bytes */
	vq_u32 floor;     /* no share of the threshold is smaller, bytes */
	vq_u32 classes;   /* 1..VQ_CLASSES */
	vq_u32 pad;
	struct vq_class class[VQ_CLASSES];
};

/* All zero is an empty queue. */
struct vq_state {
	vq_u64 last;      /* when it was last drained, ns */
	vq_u64 rest;      /* service left over by the last division, 2^-32 bytes */
	vq_u32 zero;      /* always 0, which the verifier cannot know */
	vq_u32 pad;
	vq_u64 backlog[VQ_CLASSES];
};

/*
 * The verifier follows every path whose variables differ, and the classes can have a backlog or not
 * in 2^9 ways. It sees that the paths meet again if the sums are unknown to it, hence `zero`, and
 * if backlogs are read again, hence the barrier. Without them it gives up at a million
 * instructions.
 */
#ifdef __bpf__
#define VQ_MEET() __asm__ volatile("" ::: "memory")
#else
#define VQ_MEET() do { } while (0)
#endif

/* No function calls while a lock is held: the verifier of kernel 6.12 requires this. */
#define VQ_INLINE static inline __attribute__((always_inline))

/* Serves the queue until `now`. A clock that stands still or goes back serves nothing. */
VQ_INLINE void vq_drain(const struct vq_config *c, struct vq_state *q, vq_u64 now)
{
	vq_u64 elapsed = now - q->last, service, share;
	vq_u32 i, round, weight = q->zero, emptied;

	/* Another CPU may have read the clock later and come first. */
	if (now <= q->last)
		return;
	q->last = now;
	if (elapsed >= c->idle) {
		for (i = 0; i < VQ_CLASSES; i++)
			q->backlog[i] = 0;
		q->rest = 0;
		return;
	}
	service = elapsed * c->drain + q->rest;
	q->rest = 0;
	for (i = 0; i < VQ_CLASSES; i++) {
		VQ_MEET();
		if (q->backlog[i])
			weight += c->class[i].weight;
	}
	/*
	 * The share of a class only grows when others run empty. So a class that is emptied by its share
	 * of `service` is empty at the end, whatever the others do; the rest then share what it left. Each
	 * round except the last empties at least one class.
	 */
	for (round = 0; round < VQ_CLASSES && weight; round++) {
		share = service / weight;
		emptied = q->zero;
		for (i = 0; i < VQ_CLASSES; i++) {
			vq_u64 backlog;

			VQ_MEET();
			backlog = q->backlog[i];
			if (backlog && backlog <= share * c->class[i].weight) {
				service -= backlog;
				q->backlog[i] = 0;
				emptied += c->class[i].weight;
			}
		}
		if (!emptied) {
			for (i = 0; i < VQ_CLASSES; i++) {
				VQ_MEET();
				if (q->backlog[i])
					q->backlog[i] -= share * c->class[i].weight;
			}
			q->rest = service - share * weight;
			return;
		}
		weight -= emptied;
	}
}

/*
 * The threshold of `class` now, bytes. Its own, or K w / (sum of w over the classes with a backlog
 * and itself): vMCC's eq. (1) with C replaced by the class's share of it (vMCC §V-A, after MQ-ECN).
 * This may be less than a packet; a threshold below two packets marks flows that have nothing to
 * give up, hence the floor.
 */
VQ_INLINE vq_u32 vq_threshold(const struct vq_config *c, const struct vq_state *q, vq_u32 class)
{
	vq_u64 share;
	vq_u32 i, weight;

	if (class >= VQ_CLASSES)
		return 0;
	if (c->class[class].threshold)
		return c->class[class].threshold;
	weight = q->zero + c->class[class].weight;
	for (i = 0; i < VQ_CLASSES; i++) {
		VQ_MEET();
		if (i != class && q->backlog[i])
			weight += c->class[i].weight;
	}
	if (!weight)
		return 0;
	share = (vq_u64)c->threshold * c->class[class].weight / weight;
	return share > c->floor ? share : c->floor;
}

/* A packet arrives; returns whether a switch would mark it. */
VQ_INLINE int vq_arrive(const struct vq_config *c, struct vq_state *q, vq_u32 class, vq_u32 bytes, vq_u64 now)
{
	vq_u64 found, room, size = (vq_u64)bytes << 32;
	int over;

	if (class >= VQ_CLASSES)
		return 0;
	vq_drain(c, q, now);
	found = q->backlog[class];
	over = found > (vq_u64)vq_threshold(c, q, class) << 32;
	room = c->class[class].limit - found;
	q->backlog[class] = found + (size < room ? size : room);
	return over;
}

#endif
