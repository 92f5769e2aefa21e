/* Reno, as the broken controllers beside it begin: each then breaks one thing. */
#include "coupled.h"

struct state_words {
	u64 credit;
	u64 count;
};
DECLARE_STATE(struct state_words)

static inline void reno_like_grow(struct subflow *s, const struct ack *a)
{
	u32 left = slow_start(s, a->delivered);

	if (left)
		raise_window(s, &state_of(s)->credit, left, reno_increase(s));
}

static inline u32 reno_like_congestion(struct subflow *s, enum cause cause)
{
	return half_window(s);
}
