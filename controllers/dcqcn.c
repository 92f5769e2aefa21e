/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DCQCN: a rate that is cut by marks and restored by a timer and a byte counter.
 *
 * Source: Zhu et al., SIGCOMM 2015, §3.1, eq. (1)-(4), from memory; compared with the Mellanox version in
 * HPCC's ns-3 code (rdma-hw.cc). R is the current rate, R_T the target rate; both start with the line's,
 * alpha with 1:
 *
 *   CNP                    R_T = R, R *= 1 - alpha/2, alpha = (1 - g) alpha + g; T and C begin anew at 0
 *   55 us without CNP      alpha *= 1 - g, again and again
 *   timer (55 us)          T += 1, and an increase; so for C with every 10 MB
 *   increase               max(T, C) <= 5: R = (R + R_T)/2               (fast recovery)
 *                          min(T, C) >  5: R_T += (min(T, C) - 5) R_hai  (hyper increase)
 *                          else            R_T += R_ai                   (additive increase)
 *                          and in the latter two R = (R + R_T)/2; R_T is at most the line's rate
 *
 * The receiver sends a CNP when a packet is marked, unless it sent one in the last 50 us: marks within
 * that time count as one.
 *
 * Deviations, or what the source leaves open:
 *   - timers are checked when something is reported, and then catch up.
 *   - bytes are counted when they are delivered; there when they are sent.
 *   - the original has no window: here it is `window` percent of the BDP, so that packets that nobody
 *     answers do not continue forever. 0: none.
 *   - the paper has lossless links. A loss or a trim counts as a mark.
 *   - hyper increase is QCN's, to which the paper refers. The Mellanox version has one step, and only
 *     the timer.
 */
#include "spray.h"

#define PARAMETERS(P) \
	P(g_shift, 8, 1, 16, "bit", "g = 2^-g_shift: weight of a CNP in alpha") \
	P(cnp_interval, 50000, 0, 1000000000, "ns", "minimum time between two CNPs") \
	P(alpha_timer, 55000, 1000, 1000000000, "ns", "alpha falls whenever this time passes without a CNP") \
	P(rate_timer, 55000, 1000, 1000000000, "ns", "time between two increases") \
	P(byte_counter, 10000, 1, 1000000000, "kB", "bytes between two increases") \
	P(fast_steps, 5, 1, 1000, "", "F: number of increases in fast recovery") \
	P(rate_ai, 40, 0, 1000000, "Mbit/s", "R_ai: additive increase") \
	P(rate_hai, 200, 0, 1000000, "Mbit/s", "R_hai: hyper increase") \
	P(least_rate, 10, 1, 1000000, "Mbit/s", "lower bound of R") \
	P(window, 200, 0, 10000, "%", "window, as a share of the BDP; 0: none")
DECLARE_PARAMETERS

/* alpha, Q30. */
#define ALPHA_ONE (1u << 30)
/* Expiries of a timer that are made up for: more change nothing that could be seen. */
#define MADE_UP 4096
#define STEPS_MOST 60000

struct dcqcn {
	u64 rate, target; /* R and R_T, Q16 Mbit/s; 0: nothing was reported */
	u64 last_cnp, alpha_from, timer_from; /* ns */
	u64 bytes;        /* since the counter stepped */
	u32 alpha;        /* Q30 */
	u16 timer_steps, byte_steps; /* T, C */
};
DECLARE_STATE(struct dcqcn)

static void increase(const struct subflow *s, struct dcqcn *d, const struct report *r)
{
	u32 fast = (u32)PARAMETER(s, fast_steps), more = max_u32(d->timer_steps, d->byte_steps);
	u32 fewer = min_u32(d->timer_steps, d->byte_steps);

	if (fewer > fast)
		d->target += (fewer - fast) * PARAMETER(s, rate_hai) << 16;
	else if (more > fast)
		d->target += PARAMETER(s, rate_ai) << 16;
	d->target = min_u64(d->target, (u64)r->line_rate << 16);
	/* Rounded up, so that it arrives. */
	d->rate = (d->rate + d->target + 1) / 2;
}

static void step(u16 *steps)
{
	*steps = (u16)min_u32(*steps + 1u, STEPS_MOST);
}

/* What timers and the counter of bytes do between the last report and this one. */
static void pass_time(const struct subflow *s, struct dcqcn *d, const struct report *r)
{
	u64 counted = PARAMETER(s, byte_counter) * 1000;

	for (u32 i = 0; i < MADE_UP && r->now - d->alpha_from >= PARAMETER(s, alpha_timer); i++) {
		d->alpha_from += PARAMETER(s, alpha_timer);
		d->alpha -= d->alpha >> PARAMETER(s, g_shift);
	}
	for (u32 i = 0; i < MADE_UP && r->now - d->timer_from >= PARAMETER(s, rate_timer); i++) {
		d->timer_from += PARAMETER(s, rate_timer);
		step(&d->timer_steps);
		increase(s, d, r);
	}
	d->bytes += (u64)r->delivered * s->mss;
	for (u32 i = 0; i < MADE_UP && d->bytes >= counted; i++) {
		d->bytes -= counted;
		step(&d->byte_steps);
		increase(s, d, r);
	}
	if (r->now - d->alpha_from >= PARAMETER(s, alpha_timer))
		d->alpha_from = r->now;
	if (r->now - d->timer_from >= PARAMETER(s, rate_timer))
		d->timer_from = r->now;
	d->bytes %= counted;
}

static void notify(const struct subflow *s, struct dcqcn *d, const struct report *r)
{
	if (r->now - d->last_cnp < PARAMETER(s, cnp_interval))
		return;
	d->target = d->rate;
	d->rate = max_u64(d->rate - fix_mul_shr(d->rate, d->alpha, 31), PARAMETER(s, least_rate) << 16);
	d->rate = min_u64(d->rate, d->target);
	d->alpha += (ALPHA_ONE - d->alpha) >> PARAMETER(s, g_shift);
	d->last_cnp = r->now;
	d->alpha_from = r->now;
	d->timer_from = r->now;
	d->timer_steps = 0;
	d->byte_steps = 0;
	d->bytes = 0;
}

static u32 dcqcn_report(struct subflow *s, const struct report *r)
{
	struct dcqcn *d = state_of(s);
	u64 window = carried(s, r, r->base_rtt) * PARAMETER(s, window) / 100;

	if (!d->rate) {
		d->rate = (u64)r->line_rate << 16;
		d->target = d->rate;
		d->alpha = ALPHA_ONE;
		d->alpha_from = r->now;
		d->timer_from = r->now;
		d->last_cnp = r->now - PARAMETER(s, cnp_interval);
	}
	pass_time(s, d, r);
	if (r->marked || r->trimmed || r->lost)
		notify(s, d, r);
	use_window(s, PARAMETER(s, window) ? window : WIDEST);
	return (u32)max_u64(min_u64(d->rate >> 16, r->line_rate) / 8, 1);
}

CONTROLLER(dcqcn,
	.title = "DCQCN: a rate that is cut by marks and restored by time and bytes",
	.source = "Zhu et al., SIGCOMM 2015",
	.signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_PACKETS,
	.min_cwnd = 1,
	WITH_PARAMETERS,
	MAXIMISES(LOG_INSTEAD(PRICE_ROUNDS, "Zhu et al. (SIGCOMM 2015)")),
	FOLLOWS({ .kind = LAW_UNKNOWN }),
	.report = dcqcn_report);
