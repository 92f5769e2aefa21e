/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
#include "compat.h"
char _license[] SEC("license") = "Dual MIT/GPL";
