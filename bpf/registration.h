/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/*
 * Data that user space must find again when it later reads the attached controller. No hook touches
 * these maps: crates/linux binds them to a program, so they have the same lifetime, and the pinned
 * link is the only file.
 */
#ifndef TRESSE_REGISTRATION_H
#define TRESSE_REGISTRATION_H

/* Which version attached what: a JSON text, padded with zeros. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4096);
} stamp SEC(".maps");

/* The default congestion control that a network namespace had before, by its cookie (SO_NETNS_COOKIE). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, 16);
} defaults SEC(".maps");

#endif
