/*
 * test_strip_cache.c: the strips that contexts keep: bounds, alone and together, and who has to go.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "strip_cache.h"

#define WIDE (B2I_STRIPS_NBYTES + 1)

static b2i_strip *strip_of(b2i_strip_cache *cache, uint64_t owner)
{
    b2i_strip_key key = { .owner = owner };
    return b2i_strip_of(cache, &key);
}

static void test_least_used_goes(void)
{
    b2i_strip_cache cache = { 0 };
    const size_t half = B2I_STRIPS_NBYTES / 2;
    for (uint64_t owner = 1; owner <= 2; owner++) {
        b2i_strip *s = strip_of(&cache, owner);
        CHECK(b2i_strip_room(&cache, s, half) != NULL);
        s->is_filled = true;
    }
    CHECK(strip_of(&cache, 1)->is_filled);
    CHECK(b2i_strip_room(&cache, strip_of(&cache, 3), half) != NULL);
    CHECK(!strip_of(&cache, 2)->is_filled);
    CHECK(strip_of(&cache, 1)->is_filled);
    b2i_strips_free(&cache);
}

static void test_wide_ones_of_all_contexts(void)
{
    enum { N = B2I_WIDE_NBYTES / WIDE };
    static b2i_strip_cache caches[N + 1];
    b2i_strip *strips[N + 1];
    for (uint64_t i = 0; i <= N; i++) {
        strips[i] = strip_of(&caches[i], 1);
        CHECK((b2i_strip_room(&caches[i], strips[i], WIDE) != NULL) == (i < N));
    }
    b2i_strips_free(&caches[0]);
    CHECK(b2i_strip_room(&caches[N], strips[N], WIDE) != NULL);
    CHECK(b2i_strip_room(&caches[N], strips[N], 9) != NULL); /* no longer a wide one */
    CHECK(b2i_strip_room(&caches[0], strips[0], WIDE) != NULL);
    for (uint32_t i = 0; i <= N; i++) {
        b2i_strips_free(&caches[i]);
    }
    CHECK(b2i_strip_room(&caches[0], strips[0], B2I_WIDE_NBYTES) != NULL);
    b2i_strips_free(&caches[0]);
}

static void test_wide_ones_leave_others_alone_and_age(void)
{
    b2i_strip_cache cache = { 0 }, other = { 0 };
    b2i_strip *narrow = strip_of(&cache, 1);
    CHECK(b2i_strip_room(&cache, narrow, B2I_STRIPS_NBYTES) != NULL);
    narrow->is_filled = true;
    b2i_strip *wide = strip_of(&cache, 2);
    CHECK(b2i_strip_room(&cache, wide, B2I_WIDE_NBYTES) != NULL);
    wide->is_filled = true;
    CHECK(strip_of(&cache, 1)->is_filled && strip_of(&cache, 2)->is_filled);
    CHECK(b2i_strip_room(&other, strip_of(&other, 1), WIDE) == NULL);
    for (int i = 0; i < 100; i++) {
        CHECK(strip_of(&cache, 1)->is_filled);
    }
    CHECK(!strip_of(&cache, 2)->is_filled);
    CHECK(b2i_strip_room(&other, strip_of(&other, 1), WIDE) != NULL);
    CHECK(strip_of(&other, 1)->bytes.cap == WIDE);
    for (uint64_t owner = 2; owner < 2 + B2I_NSTRIPS; owner++) { /* its place is taken */
        CHECK_EQ(strip_of(&other, owner)->bytes.cap, 0);
    }
    CHECK(b2i_strip_room(&cache, strip_of(&cache, 2), B2I_WIDE_NBYTES) != NULL);
    b2i_strips_free(&cache);
    b2i_strips_free(&other);
}

static void test_no_memory_for_a_wide_one(void)
{
    b2i_strip_cache cache = { 0 };
    b2i_strip *s = strip_of(&cache, 1);
    b2i_alloc_fail_at(1, true);
    CHECK(b2i_strip_room(&cache, s, B2I_WIDE_NBYTES) == NULL);
    b2i_alloc_fail_at(0, false);
    CHECK(b2i_strip_room(&cache, s, B2I_WIDE_NBYTES) != NULL);
    b2i_strips_free(&cache);
}

int main(void)
{
    test_least_used_goes();
    test_wide_ones_of_all_contexts();
    test_wide_ones_leave_others_alone_and_age();
    test_no_memory_for_a_wide_one();
    return RESULT();
}
