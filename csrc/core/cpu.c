/*
 * cpu.c: detection of instruction sets.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cpu.h"

static unsigned allowed_features = ~0u;

void b2i_cpu_limit(unsigned allowed)
{
    allowed_features = allowed;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <stdint.h>

enum {
    LEAF1_EDX_SSE2 = 1 << 26,
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_AVX = 1 << 28,
    LEAF7_EBX_BMI1 = 1 << 3,
    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_BMI2 = 1 << 8,
    LEAF7_EBX_AVX512F = 1 << 16,
    LEAF7_EBX_AVX512BW = 1 << 30,
    LEAF7_ECX_AVX512VBMI = 1 << 1,
    LEAF7_ECX_GFNI = 1 << 8,
    XCR0_XMM_YMM = 6,
    XCR0_ZMM = 0xE6
};

#define LEAF7_EBX_AVX512VL (1u << 31)

/* Which register states the operating system saves when it switches threads. */
static uint32_t saved_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* How memory is copied best, from the answer to leaf 1.  AMD's family 19h ends with Zen 4. */
static unsigned ways_of_copying(unsigned version)
{
    unsigned eax, ebx, ecx, edx;
    const unsigned family = (version >> 8 & 15) + (version >> 20 & 255);
    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx)) {
        return 0;
    }
    if (ecx == signature_INTEL_ecx) {
        return B2I_CPU_SLOW_PAGES;
    }
    return ecx == signature_AMD_ecx && family >= 0x1A ? B2I_CPU_FAST_STRINGS : 0;
}

static unsigned detect(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        return 0;
    }
    unsigned features = ways_of_copying(eax);
    if ((edx & LEAF1_EDX_SSE2) != 0) {
        features |= B2I_CPU_SSE2;
    }
    if ((ecx & LEAF1_ECX_OSXSAVE) == 0 || (ecx & LEAF1_ECX_AVX) == 0) {
        return features;
    }
    uint32_t saved = saved_states();
    if ((saved & XCR0_XMM_YMM) != XCR0_XMM_YMM ||
        !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        return features;
    }
    if ((ebx & LEAF7_EBX_AVX2) != 0) {
        features |= B2I_CPU_AVX2;
    }
    const unsigned bmi_ebx = LEAF7_EBX_BMI1 | LEAF7_EBX_BMI2;
    if ((ebx & bmi_ebx) == bmi_ebx) {
        features |= B2I_CPU_BMI2;
    }
    const unsigned avx512_ebx = LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL;
    const unsigned avx512_ecx = LEAF7_ECX_AVX512VBMI | LEAF7_ECX_GFNI;
    if ((saved & XCR0_ZMM) == XCR0_ZMM && (ebx & avx512_ebx) == avx512_ebx &&
        (ecx & avx512_ecx) == avx512_ecx) {
        features |= B2I_CPU_AVX512;
    }
    return features;
}

#elif defined(__aarch64__) || defined(__ARM_NEON)

/* Part of the base instruction set of the target. */
static unsigned detect(void)
{
    return B2I_CPU_NEON;
}

#else

static unsigned detect(void)
{
    return 0;
}

#endif

unsigned b2i_cpu_features(void)
{
    return detect() & allowed_features;
}
