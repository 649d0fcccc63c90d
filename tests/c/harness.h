/*
 * harness.h: the whole test framework.  A failed CHECK prints where and goes on;
 * main() returns RESULT().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int harness_failures, harness_checks;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        harness_checks++;                                                                          \
        if (!(cond)) {                                                                             \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
        }                                                                                          \
    } while (0)

/* Like CHECK for two numbers, printing both. */
#define CHECK_EQ(a, b)                                                                             \
    do {                                                                                           \
        long long harness_a = (long long)(a), harness_b = (long long)(b);                          \
        harness_checks++;                                                                          \
        if (harness_a != harness_b) {                                                              \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #a,          \
                    harness_a, #b, harness_b);                                                     \
        }                                                                                          \
    } while (0)

#define RESULT()                                                                                   \
    (printf("%d checks, %d failures\n", harness_checks, harness_failures),                         \
     harness_failures == 0 && harness_checks > 0 ? 0 : 1)

/* A repeatable random number (xorshift). */
static inline uint64_t harness_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
