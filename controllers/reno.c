/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Reno: the increase and the cut of standard TCP.
 *
 * Source: RFC 5681 §3.1; catalogue S1.
 *
 *   congestion avoidance   w += 1/w for each packet delivered
 *   loss or mark           w  = w/2
 *
 * The window is halved from cwnd, as in Linux, whereas RFC 5681 eq. (4) halves the data in flight.
 * The host decides which losses are seen, and how they are repaired: NewReno and SACK are variants
 * of its recovery, not of this file.
 *
 * With several subflows each is a separate TCP: the uncoupled reference (catalogue S25), which also has
 * the name `uncoupled`. `newreno` is the papers' name for the same controller with recovery by
 * RFC 6582.
 */
#include "window.h"

static u64 increase(const struct subflow *s)
{
	return reno_increase(s);
}

#define RENO_CAVEAT \
	"For one binary signal per round. With independent packet losses the price is 2/(T² x²), a different utility."

CONTROLLER(reno,
	.title = "Reno: one more packet per round, half the window on congestion",
	.source = "RFC 5681 §3.1",
	MAXIMISES({ .utility = UTILITY_TCP, .standing = STANDING_PROVED,
		    .source = "THESIS (2.22), after Wang et al. [56]", .caveat = RENO_CAVEAT }),
	FOLLOWS({ .growth = GROWTH_SEPARATE }),
	WINDOW);

ALIAS(newreno, reno,
	.title = "Reno under the name that papers give it with NewReno's recovery",
	.source = "RFC 5681 §3.1, RFC 6582");

ALIAS(uncoupled, reno,
	.title = "Reno under the name of the uncoupled reference: a separate TCP on each subflow",
	.source = "RFC 5681 §3.1; THESIS (3.11) with omega = 1",
	MAXIMISES({ .utility = UTILITY_TCP, .standing = STANDING_PROVED,
		    .source = "THESIS (3.11) with every ω = 1", .caveat = RENO_CAVEAT }));
