/*
 * cpu.h: which instruction sets may be used.  The only place that asks the CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_CPU_H
#define B2I_CPU_H

#define B2I_CPU_SSE2         1u
#define B2I_CPU_AVX2         2u
#define B2I_CPU_NEON         4u
#define B2I_CPU_AVX512       8u  /* F, BW, VL, VBMI and GFNI */
#define B2I_CPU_BMI2         16u /* and BMI1 */
#define B2I_CPU_FAST_STRINGS 32u /* copies by 'rep movsb' are the fastest: AMD from Zen 5 on */
#define B2I_CPU_SLOW_PAGES   64u /* copies wait at each new page unless it is prefetched: Intel */

/* B2I_CPU_… bits that both the CPU and the operating system support, within the limit. */
unsigned b2i_cpu_features(void);

/*
 * For tests: features outside 'allowed' are no longer reported.  Kernels are
 * chosen once, so call it before anything else and from one thread.
 */
void b2i_cpu_limit(unsigned allowed);

#endif
