/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Calls the hooks of THE_CONTROLLER in every order, any number of times, with every value within the contract's
 * bounds. Included after the controller's file.
 */
static u64 parameters[MAX_PARAMETERS];
static struct subflow own;
static struct hop hops[8];

static u32 any(u32 least, u32 most)
{
	return Frama_C_unsigned_int_interval(least, most);
}

static u64 any_long(u64 least, u64 most)
{
	return Frama_C_unsigned_long_long_interval(least, most);
}

static u32 maybe(void)
{
	return any(0, 1);
}

/* 285 years in us, 104 days in ns. */
#define MOST_TIME (1ULL << 53)
#define MOST_PACKETS (CWND_LIMIT - 1)
#define ANY_U32 any(0, 0xffffffff)

static struct ack any_ack(void)
{
	struct ack a = { .now = any_long(0, MOST_TIME), .new_round = maybe() };

	delivered_now = any(1, MOST_PACKETS);
	budget = delivered_now;
	a.delivered = delivered_now;
	a.marked = any(0, MOST_PACKETS);
	a.rtt = maybe() ? any(SRTT_LEAST, SRTT_LIMIT - 1) : 0;
	return a;
}

static struct report any_report(void)
{
	struct report r = {
		.delivered = any(0, MOST_PACKETS), .marked = any(0, MOST_PACKETS),
		.trimmed = any(0, MOST_PACKETS), .lost = any(0, MOST_PACKETS),
		.rtt = ANY_U32, .base_rtt = any(1, 0xffffffff), .line_rate = any(1, 0xffffffff), .rate = ANY_U32,
		.last_hop = maybe(), .app_limited = maybe(), .hop_count = any(0, 8),
		.now = any_long(0, MOST_TIME), .hops = hops,
	};

	//@ loop unroll 8;
	for (u32 i = 0; i < 8; i++) {
		hops[i].bytes = any_long(0, -1);
		hops[i].time = any_long(0, MOST_TIME);
		hops[i].queue = ANY_U32;
		hops[i].rate = ANY_U32;
	}
	return r;
}

/* What the host may have written since the last call. */
static void any_subflow(u32 least, u32 most)
{
	own.cwnd = any(least, most);
	own.ssthresh = any(1, INFINITE_SSTHRESH);
	own.srtt = maybe() ? any(SRTT_LEAST, SRTT_LIMIT - 1) : 0;
	own.min_rtt = any(0, SRTT_LIMIT - 1);
	own.in_flight = any(0, MOST_PACKETS);
	own.mss = any(1, 0xffff);
	own.state = any(OPEN, LOSS);
	own.cwnd_limited = maybe();
	own.next_hop = maybe();
	own.index = any(0, MAX_SUBFLOWS - 1);
	own.count = any(1, MAX_SUBFLOWS);
}

static void call_ack(u32 least, u32 most)
{
	struct ack a = any_ack();

	any_subflow(least, most);
	THE_CONTROLLER.ack(&own, &a);
}

static void call_grow(u32 least, u32 most, u32 least_ssthresh, u32 most_ssthresh)
{
	struct ack a = any_ack();

	any_subflow(least, most);
	own.ssthresh = any(least_ssthresh, most_ssthresh);
	THE_CONTROLLER.grow(&own, &a);
	/*@ assert own.cwnd >= 1; */
}

/* Windows of one power of 2 at a time: a part of one of them is then less than all of it. */
static void call_congestion(void)
{
	//@ loop unroll 21;
	for (u32 bits = 0; bits <= 20; bits++) {
		u32 cut, least = 1u << bits, most = bits < 20 ? 2 * least - 1 : least;
		u32 floor = min_u32(THE_CONTROLLER.min_cwnd, most), limit = max_u32(THE_CONTROLLER.min_cwnd, least);

		any_subflow(least, most);
		cut = THE_CONTROLLER.congestion(&own, any(MARK, LOCAL));
		if (!cut && THE_CONTROLLER.exceptions & EXCEPTION_IGNORES_MARK)
			continue;
		/*@ assert cut >= floor; */
		/*@ assert cut <= limit; */
	}
}

static void call_report(void)
{
	struct report r = any_report();
	u32 pace;

	any_subflow(1, MOST_PACKETS);
	pace = THE_CONTROLLER.report(&own, &r);
	/*@ assert 1 <= own.cwnd <= 1048576; */
}

int main(void)
{
	own.parameters = parameters;
	//@ loop unroll 16;
	for (u32 i = 0; i < THE_CONTROLLER.parameter_count; i++) {
		const struct parameter *p = &THE_CONTROLLER.parameters[i];

		parameters[i] = any_long(p->min, p->max);
	}
	any_subflow(1, MOST_PACKETS);
	if (THE_CONTROLLER.init)
		THE_CONTROLLER.init(&own);
	published = own.word;
	/* What a hook keeps is a whole number of bits, or a part of 1 in some Q format, more often than not. */
	/*@ loop widen_hints "all", 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1024, 4095, 16384, 65535, 1048575, 1048576,
	    2097152, 1073741824, 2147483647, 4294967295, 68719476736, 4503599627370495, 9007199254740992,
	    281474976710655, 281474976710656, 288230376151711744, 4611686018427387904, 9223372036854775807; */
	while (maybe()) {
		if (THE_CONTROLLER.ack && maybe())
			call_ack(2, MOST_PACKETS);
		if (THE_CONTROLLER.ack && maybe())
			call_ack(1, 1);
		/* A window of 1 packet earns the most, if it does not leave that behind in slow start. */
		if (THE_CONTROLLER.grow && maybe())
			call_grow(1, 1, 1, 1);
		if (THE_CONTROLLER.grow && maybe())
			call_grow(1, 1, 2, INFINITE_SSTHRESH);
		if (THE_CONTROLLER.grow && maybe())
			call_grow(2, MOST_PACKETS, 1, INFINITE_SSTHRESH);
		if (THE_CONTROLLER.congestion && maybe())
			call_congestion();
		if (THE_CONTROLLER.timeout && maybe()) {
			any_subflow(1, MOST_PACKETS);
			THE_CONTROLLER.timeout(&own);
		}
		if (THE_CONTROLLER.report && maybe())
			call_report();
		if (maybe())
			published = own.word;
	}
	return 0;
}
