/*
 * mutate.c: the custom mutator of libFuzzer and AFL++: finds a frame, chunk or metalayer in the
 * input, changes it so that it still fits together, and leaves other inputs to the engine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mutate.h"

#include <stdlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t cap);

enum { MAX_FOUND = 64 };

static uint64_t state;

uint32_t mut_random(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n == 0 ? 0 : (uint32_t)((state >> 32) % n);
}

bool mut_chance(uint32_t n)
{
    return mut_random(n) == 0;
}

void mut_put(mut_buf *b, const void *p, size_t n)
{
    if (n > 0 && n <= MUT_MAX_LEN - b->n) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
}

uint64_t mut_number(unsigned bits)
{
    uint64_t max = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t v = (uint64_t)1 << mut_random(bits);
    switch (mut_random(5)) {
    case 0:
        return mut_random(3);
    case 1:
        return max - mut_random(3);
    case 2:
        return (max >> 1) + mut_random(3) - 1;
    case 3:
        return v + mut_random(3) - 1;
    default:
        return ((uint64_t)mut_random(UINT32_MAX) << 32 | mut_random(UINT32_MAX)) & max;
    }
}

#ifdef B2C_MUTATE_ALONE

/* libFuzzer brings its own; this is for AFL++ and for fuzz_main.c. */
size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t cap)
{
    for (uint32_t times = 1 + mut_random(4); times > 0; times--) {
        size_t at = mut_random((uint32_t)n), len = 1 + mut_random(8);
        len = len < n - at ? len : n - at;
        switch (n == 0 ? 3 : mut_random(5)) {
        case 0:
            p[at] ^= (uint8_t)(1 << mut_random(8));
            break;
        case 1:
            p[at] = (uint8_t)mut_number(8);
            break;
        case 2:
            memmove(p + at, p + at + len, n - at - len);
            n -= len;
            break;
        case 3:
            len = len == 0 ? 1 : len;
            if (cap - n >= len) {
                memmove(p + at + len, p + at, n - at);
                memset(p + at, (int)mut_number(8), len);
                n += len;
            }
            break;
        default:
            memmove(p + mut_random((uint32_t)(n - len + 1)), p + at, len);
            break;
        }
    }
    return n;
}

#endif

size_t mut_bytes(uint8_t *p, size_t n, size_t cap)
{
    return cap == 0 ? 0 : LLVMFuzzerMutate(p, n, cap);
}

/* Puts 'now' in the place of n bytes at 'at', and their new length where the targets have it. */
static size_t replace(uint8_t *data, size_t len, size_t cap, size_t at, size_t n,
                      const mut_buf *now)
{
    if (now->n > cap - (len - n)) {
        return 0;
    }
    for (size_t back = 4; back <= 8 && back <= at; back += 4) {
        if (b2i_ld32le(data + at - back) == n) {
            b2i_st32le(data + at - back, (uint32_t)now->n);
            break;
        }
    }
    memmove(data + at + now->n, data + at + n, len - at - n);
    memcpy(data + at, now->p, now->n);
    return len - n + now->n;
}

/*
 * The sections that fuzz_meta puts into a frame: u16 size of the first, both, each with its places.
 */
static size_t change_metas(const uint8_t *data, size_t len, mut_buf *out)
{
    enum { FIXED_LEN = 87, PREFIX = 2 };
    bool first = mut_chance(2);
    size_t n = len < 4 ? 0 : data[0] | (size_t)data[1] << 8;
    if (n == 0 || n > len - PREFIX || data[PREFIX] != 0x93) {
        return 0;
    }
    mut_section how = { .base = FIXED_LEN, .to_base = FIXED_LEN - PREFIX, .change = first };
    out->n = 0;
    mut_put(out, data, PREFIX);
    if (!mut_metas(b2i_span_of(data + PREFIX, n), &how, out)) {
        return 0;
    }
    size_t now = out->n - PREFIX, rest = len - PREFIX - n;
    out->p[0] = (uint8_t)now;
    out->p[1] = (uint8_t)(now >> 8);
    mut_put(out, data + PREFIX + n, 2);
    mut_section second = { .at = 2, .to_base = (size_t)0 - (PREFIX + now), .is_vl = true };
    second.change = !first;
    if (rest < 2 || !mut_metas(b2i_span_of(data + PREFIX + n, rest), &second, out)) {
        return 0;
    }
    return out->n;
}

/* A chunk of those that are found, or an array's shapes. */
static size_t change_something(uint8_t *data, size_t len, size_t cap)
{
    static mut_buf out;
    size_t found[MAX_FOUND], lens[MAX_FOUND], n = 0;
    for (size_t at = 0; at < len && n < MAX_FOUND; at++) {
        b2i_span s = b2i_span_of(data + at, len - at);
        size_t is_chunk = mut_chunk_len(s);
        if (is_chunk != 0) {
            found[n] = at;
            lens[n++] = is_chunk;
        } else if (s.n > 8 && s.p[0] >= 0x95 && s.p[0] <= 0x97 && s.p[1] == 0 && s.p[2] <= 16 &&
                   s.p[3] == 0x90 + s.p[2]) {
            found[n] = at;
            lens[n++] = 0;
        }
    }
    if (n == 0) {
        return 0;
    }
    size_t i = mut_random((uint32_t)n);
    if (lens[i] == 0) {
        return mut_nd(data + found[i], len - found[i]) == 0 ? 0 : len;
    }
    out.n = 0;
    mut_chunk(b2i_span_of(data + found[i], lens[i]), &out);
    return replace(data, len, cap, found[i], lens[i], &out);
}

static size_t mutate(uint8_t *data, size_t len, size_t cap)
{
    static mut_buf out;
    if (mut_chance(4) && mut_record(data, len)) {
        return len;
    }
    for (size_t at = 0; at < len; at++) {
        b2i_span s = b2i_span_of(data + at, len - at);
        size_t n = mut_frame_len(s);
        if (n != 0) {
            return mut_frame(s, &out) ? replace(data, len, cap, at, n, &out) : 0;
        }
    }
    size_t n = change_metas(data, len, &out);
    if (n != 0 && n <= cap) {
        memcpy(data, out.p, n);
        return n;
    }
    return change_something(data, len, cap);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t cap, unsigned seed)
{
    state = (seed + 1) * 0x9E3779B97F4A7C15u | 1;
    size_t now = n > MUT_MAX_LEN / 2 || mut_chance(4) ? 0 : mutate(data, n, cap);
    /* Without a structure, or now and then on top of it, whatever the engine likes. */
    return now == 0        ? LLVMFuzzerMutate(data, n, cap)
           : mut_chance(8) ? LLVMFuzzerMutate(data, now, cap)
                           : now;
}

#ifdef B2C_MUTATE_ALONE

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *handle, uint8_t *data, size_t n, uint8_t **out, uint8_t *more,
                       size_t more_len, size_t cap);
void afl_custom_deinit(void *handle);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    state = seed | 1;
    return malloc(2 * (size_t)MUT_MAX_LEN);
}

size_t afl_custom_fuzz(void *handle, uint8_t *data, size_t n, uint8_t **out, uint8_t *more,
                       size_t more_len, size_t cap)
{
    (void)more;
    (void)more_len;
    cap = cap < 2 * (size_t)MUT_MAX_LEN ? cap : 2 * (size_t)MUT_MAX_LEN;
    n = n < cap ? n : cap;
    memcpy(handle, data, n);
    *out = handle;
    return LLVMFuzzerCustomMutator(handle, n, cap, mut_random(UINT32_MAX));
}

void afl_custom_deinit(void *handle)
{
    free(handle);
}

#endif
