/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* fix.h's functions are inline: here they get symbols that fix.rs can call. */
#include "controller.h"

u64 shim_log2(u64 v)
{
	return fix_log2(v);
}

u64 shim_log2_1p(u64 e)
{
	return fix_log2_1p(e);
}

u64 shim_exp2_neg(u64 t)
{
	return fix_exp2_neg(t);
}

u64 shim_power_1p_neg(u64 e, u64 n)
{
	return fix_power_1p_neg(e, n);
}

u64 shim_log2_e(void)
{
	return FIX_LOG2_E;
}
