/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The contract between a host balancer and its host.
 *
 * A connection has many paths, each with its own entropy value, by which switches (or a source route)
 * distinguish them. The balancer says which of them the next packet takes, and is told what happened to
 * it. The controller decides how many packets may be in flight (controllers/controller.h).
 *
 * Rules for a balancer: integers only; no division by a value that may be 0; loops with a bound; it
 * writes only the memory at `state`, draws only with random_below, and keeps no pointers: the host may
 * copy and move that memory.
 */
#ifndef TRESSE_BALANCER_H
#define TRESSE_BALANCER_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;

/* Raised whenever the layout or the meaning of anything below changes. */
#define TRESSE_BALANCER_ABI 1

#define MAX_PATHS 4096

#define MAX_PARAMETERS 16

/* The most memory that a balancer may ask for, bytes: once a connection, and once a path. */
#define MAX_STATE_BYTES 65536
#define MAX_PATH_BYTES 256

/*
 * What happened to a packet. GOOD: it arrived, unmarked. ECN: it arrived with a mark. TRIM: a switch cut
 * off its payload, and the header arrived. TIMEOUT: it did not arrive at all.
 */
enum feedback { GOOD, ECN, TRIM, TIMEOUT };

/* A connection, as its balancer sees it. */
struct spread {
	u32 paths;             /* how many there are: 1 to MAX_PATHS, always the same */
	u32 window;            /* congestion window at the last `pick`, packets; at least 1 */
	u64 now;               /* ns; only the difference of two has a meaning */
	u64 random;            /* host's: the connection's own stream, see random_below */
	const u64 *parameters; /* host's */
	void *state;           /* see DECLARE_STATE, DECLARE_PATHS; all 0 at first, 8-byte aligned */
};

/* A parameter: a whole number with a unit, a default and a range. */
struct parameter {
	const char *name;
	u64 initial, min, max;
	const char *unit, *meaning;
};

/* What a balancer says of itself in `.flags`, and `tresse balancer check` holds it to. */
#define FLOW_LEVEL 1 /* one path at a time: without feedback the next packet takes the last one's */
#define RECYCLES 2   /* paths that were good are taken again before others are tried */

struct balancer {
	u32 abi;
	u32 flags;
	u32 parameter_count;
	u32 state_bytes; /* of the connection; a multiple of 8 */
	u32 path_bytes;  /* of each path, behind those of the connection */
	const char *name, *title, *source;
	const struct parameter *parameters;

	/* Once, before anything else. May set state. */
	void (*init)(struct spread *s);
	/*
	 * What happened to a packet that took `path`. The host calls it once for each packet, and again for
	 * what it sends again; in any order, and perhaps long after `pick`.
	 */
	void (*feedback)(struct spread *s, u32 path, enum feedback what);
	/* The path of the next packet, below s->paths. `sequence` is its number; one that is sent again
	   has its old one. */
	u32 (*pick)(struct spread *s, u32 sequence);
	/*
	 * 0: the path gets no data now, because it is retired or frozen out; `pick` takes none of these as long
	 * as there is another. Writes nothing. If left out, every path may be taken at any time.
	 */
	u32 (*alive)(const struct spread *s, u32 path);
};

/*
 * Parameters are declared once, before the hooks:
 *
 *   #define PARAMETERS(P) P(probe, 1000, 1, 1000000, "us", "how long a path is retired")
 *   DECLARE_PARAMETERS
 *
 * and read as PARAMETER(s, probe).
 */
#define PARAMETER_INDEX(name, initial, min, max, unit, meaning) parameter_##name,
#define PARAMETER_ENTRY(name, initial, min, max, unit, meaning) \
	{ #name, initial, min, max, unit, meaning },
#define DECLARE_PARAMETERS                                                     \
	enum { PARAMETERS(PARAMETER_INDEX) parameter_count };                  \
	_Static_assert(parameter_count <= MAX_PARAMETERS, "too many parameters"); \
	static const struct parameter parameter_table[] = { PARAMETERS(PARAMETER_ENTRY) };
#define WITH_PARAMETERS .parameters = parameter_table, .parameter_count = parameter_count
#define PARAMETER(s, name) ((s)->parameters[parameter_##name])

/* The connection's own memory as a struct: state_of(s); WITH_STATE declares its size. */
#define WHOLE_WORDS(bytes) (((bytes) + 7) / 8 * 8)
#define DECLARE_STATE(type)                                                    \
	enum { own_state_bytes = WHOLE_WORDS(sizeof(type)) };                  \
	_Static_assert(own_state_bytes <= MAX_STATE_BYTES, "state too large"); \
	static inline type *state_of(const struct spread *s) { return s->state; }
#define WITH_STATE .state_bytes = own_state_bytes

/* A struct for each path, after DECLARE_STATE: path_of(s, path); WITH_PATHS declares its size. */
#define DECLARE_PATHS(type)                                                    \
	enum { own_path_bytes = sizeof(type) };                                \
	_Static_assert(own_path_bytes <= MAX_PATH_BYTES, "too much for a path"); \
	static inline type *path_of(const struct spread *s, u32 path)          \
	{                                                                      \
		return (type *)((char *)s->state + own_state_bytes) + path;    \
	}
#define WITH_PATHS .path_bytes = own_path_bytes

/* crates/balancers/src/raw.rs has the same layout. */
_Static_assert(sizeof(struct spread) == 24 + 2 * sizeof(void *), "struct spread has holes");

/* The declaration from which every host, list and page is fed; at the start of a line. */
#define BALANCER(id, ...)                                                      \
	const struct balancer tresse_balancer_##id = {                         \
		.abi = TRESSE_BALANCER_ABI, .name = #id, __VA_ARGS__           \
	}

/* A number below n, from the connection's own stream (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
   Its bias is below n / 2^32. */
static inline u32 random_below(struct spread *s, u32 n)
{
	u64 z = s->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (u32)((z >> 32) * n >> 32);
}

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

#endif
