/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The virtual queue as native functions: for `mark show`, which must know the backlog of now. */
#include "virtual_queue.h"

void tresse_vq_drain(const struct vq_config *c, struct vq_state *q, vq_u64 now)
{
	vq_drain(c, q, now);
}

vq_u32 tresse_vq_threshold(const struct vq_config *c, const struct vq_state *q, vq_u32 class)
{
	return vq_threshold(c, q, class);
}

int tresse_vq_arrive(const struct vq_config *c, struct vq_state *q, vq_u32 class, vq_u32 bytes, vq_u64 now)
{
	return vq_arrive(c, q, class, bytes, now);
}
