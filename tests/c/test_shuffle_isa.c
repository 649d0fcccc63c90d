/*
 * test_shuffle_isa.c: every kernel table that this machine can run against the
 * definition of the filters, in buffers that start or end at a guard page.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"
#include "bitshuffle.h"
#include "blosc2c.h"
#include "cpu.h"
#include "shuffle.h"
#include "stream.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_LEN = 1 << 20, CANARY = 0xA5, CANARY_LEN = 64 };

/* MAX_LEN and more bytes between two pages that may not be touched. */
typedef struct guarded {
    uint8_t *first;
    uint8_t *end;
} guarded;

static guarded guarded_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t len = (MAX_LEN + CANARY_LEN + page - 1) / page * page;
    uint8_t *p =
        mmap(NULL, len + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0 ||
        mprotect(p + page + len, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(2);
    }
    return (guarded){ p + page, p + page + len };
}

static guarded source, output;
static uint8_t data[MAX_LEN], expected[MAX_LEN];

/* A kernel of either filter, from 'len' bytes to as many. */
typedef struct kernel {
    b2i_shuffle_fn *shuffle;
    b2i_unshuffle_fn *unshuffle;
    b2i_bitshuffle_fn *bits;
} kernel;

static void run(const kernel *k, const uint8_t *src, uint8_t *dst, size_t width, size_t count)
{
    b2i_plane planes[B2I_MAX_UNIT];
    if (k->bits != NULL) {
        k->bits(src, dst, width, count);
    } else if (k->shuffle != NULL) {
        k->shuffle(src, width, count, dst, count);
    } else {
        for (size_t i = 0; i < width; i++) {
            planes[i] = (b2i_plane){ src + i * count, SIZE_MAX };
        }
        k->unshuffle(planes, width, count, dst);
    }
}

/* ---- the definitions ---- */

static void define_shuffle(const uint8_t *src, uint8_t *dst, size_t unit, size_t nelems)
{
    for (size_t i = 0; i < nelems; i++) {
        for (size_t k = 0; k < unit; k++) {
            dst[k * nelems + i] = src[i * unit + k];
        }
    }
}

static void define_bitshuffle(const uint8_t *src, uint8_t *dst, size_t typesize, size_t row_len)
{
    memset(dst, 0, 8 * typesize * row_len);
    for (size_t i = 0; i < 8 * row_len; i++) {
        for (size_t bit = 0; bit < 8 * typesize; bit++) {
            unsigned value = src[i * typesize + bit / 8] >> (bit % 8) & 1u;
            dst[bit * row_len + i / 8] |= (uint8_t)(value << (i % 8));
        }
    }
}

/* ---- comparison ---- */

static bool all_canary(const uint8_t *p)
{
    for (size_t i = 0; i < CANARY_LEN; i++) {
        if (p[i] != CANARY) {
            return false;
        }
    }
    return true;
}

/* Runs the kernel from 'in' and wants 'out', with both buffers at the start or end of the pages. */
static bool gives(const kernel *k, const uint8_t *in, const uint8_t *out, size_t len, size_t width,
                  size_t count, bool at_end)
{
    uint8_t *src = at_end ? source.end - len : source.first;
    uint8_t *dst = at_end ? output.end - len : output.first;
    uint8_t *beside = at_end ? dst - CANARY_LEN : dst + len;

    memcpy(src, in, len);
    memset(dst, 0x5A, len);
    memset(beside, CANARY, CANARY_LEN);
    run(k, src, dst, width, count);
    return memcmp(dst, out, len) == 0 && all_canary(beside) && memcmp(src, in, len) == 0;
}

static void check_pair(const char *what, const char *name, kernel forward, kernel backward,
                       size_t len, size_t width, size_t count)
{
    for (int at_end = 0; at_end < 2; at_end++) {
        bool ok = gives(&forward, data, expected, len, width, count, at_end) &&
                  gives(&backward, expected, data, len, width, count, at_end);
        if (!ok) {
            fprintf(stderr, "%s %s: width %zu, count %zu, at_end %d\n", name, what, width, count,
                    at_end);
        }
        CHECK(ok);
    }
}

static void check_shuffle(size_t unit, size_t nelems)
{
    const b2i_shuffle_ops *ops;
    size_t len = unit * nelems;

    if (len > MAX_LEN) {
        return;
    }
    define_shuffle(data, expected, unit, nelems);
    for (size_t i = 0; (ops = b2i_shuffle_table(i)) != NULL; i++) {
        kernel forward = { .shuffle = ops->shuffle }, backward = { .unshuffle = ops->unshuffle };
        check_pair("shuffle", ops->name, forward, backward, len, unit, nelems);
    }
}

static void check_bitshuffle(size_t typesize, size_t row_len)
{
    const b2i_bitshuffle_ops *ops;
    size_t len = 8 * typesize * row_len;

    if (len > MAX_LEN) {
        return;
    }
    define_bitshuffle(data, expected, typesize, row_len);
    for (size_t i = 0; (ops = b2i_bitshuffle_table(i)) != NULL; i++) {
        kernel forward = { .bits = ops->shuffle }, backward = { .bits = ops->unshuffle };
        check_pair("bitshuffle", ops->name, forward, backward, len, typesize, row_len);
    }
}

static void test_width(size_t width)
{
    static const size_t counts[] = { 200, 255, 256, 257, 300, 319, 511, 512, 513, 600, 607, 1000 };
    static const size_t rows[] = {
        63, 64, 65, 79, 96, 127, 128, 129, 200, 577, 639, 640, 641, 1281
    };

    for (size_t n = 0; n < (width <= 16 ? 140 : 70); n++) {
        if (width > 1) {
            check_shuffle(width, n);
        }
    }
    for (size_t n = 0; n < 36; n++) {
        check_bitshuffle(width, n);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && width > 1; i++) {
        check_shuffle(width, counts[i]);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_bitshuffle(width, rows[i]);
    }
    if (width > 1) {
        check_shuffle(width, 70001 / width);
    }
    check_bitshuffle(width, 70001 / 8 / width);
}

/* What goes past the caches: the elements that 'planes' lead to, and nothing beside them. */
static void check_stream(const uint8_t *src, size_t unit, size_t nelems, size_t at)
{
    static uint8_t out[4096 + 2 * CANARY_LEN + 64];
    uint8_t *dst = out + CANARY_LEN + at;
    b2i_plane planes[B2I_MAX_UNIT];
    for (size_t k = 0; k < unit; k++) {
        planes[k] = (b2i_plane){ src + k * nelems, SIZE_MAX };
    }
    for (size_t left = 0; left < 2; left++) { /* as they are, and not a whole line of them */
        size_t n = nelems - left * 5;
        memset(out, CANARY, sizeof out);
        b2i_unshuffle_stream(planes, unit, n, dst);
        CHECK(memcmp(dst, data, n * unit) == 0);
        CHECK(all_canary(dst - CANARY_LEN) && all_canary(dst + n * unit));
    }
}

/* The pointers of the chosen kernels at every alignment, with the copied bytes at the end. */
static void test_alignment(void)
{
    static const size_t widths[] = { 1, 2, 3, 4, 7, 8, 12, 16, 17, 33 };
    enum { N = 3000 };
    static uint8_t in[N + 64], mid[N + 64], out[N + 64];

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        size_t width = widths[w];
        size_t whole = N / width * width;
        for (size_t at = 0; at < 33; at++) {
            memcpy(in + at, data, N);
            define_shuffle(data, expected, width, N / width);
            b2i_shuffle(in + at, N, width, mid + 32 - at);
            CHECK(memcmp(mid + 32 - at, expected, whole) == 0);
            CHECK(memcmp(mid + 32 - at + whole, data + whole, N - whole) == 0);
            b2i_unshuffle(mid + 32 - at, N, width, out + at);
            CHECK(memcmp(out + at, data, N) == 0);
            check_stream(mid + 32 - at, width, N / width, at);

            size_t rows = N / width / 8;
            define_bitshuffle(data, expected, width, rows);
            b2i_bitshuffle(in + at, N, width, mid + 32 - at);
            CHECK(memcmp(mid + 32 - at, expected, rows * 8 * width) == 0);
            b2i_bitunshuffle(mid + 32 - at, N, width, out + at);
            CHECK(memcmp(out + at, data, N) == 0);
        }
    }
}

/* The kernel for whole lines gives the first of what the other one gave. */
static void check_stream_kernel(const b2i_shuffle_ops *ops, const b2i_plane *planes, size_t unit,
                                size_t nelems, const uint8_t *wanted)
{
    static uint8_t out[MAX_LEN + 64 + CANARY_LEN];
    uint8_t *dst = out + (64 - (uintptr_t)out % 64) % 64;
    size_t n = nelems / 64 * 64;
    if (ops->stream == NULL || (unit != 2 && unit != 4 && unit != 8 && unit != 16)) {
        return;
    }
    memset(dst, CANARY, n * unit + CANARY_LEN);
    ops->stream(planes, unit, n, dst);
    b2i_stream_end();
    CHECK(memcmp(dst, wanted, n * unit) == 0);
    CHECK(all_canary(dst + n * unit));
}

/* Planes that are apart, and planes of one byte, for all kernels. */
static void test_planes(size_t unit, size_t nelems)
{
    static uint8_t apart[MAX_LEN], back[MAX_LEN], runs[B2I_MAX_UNIT][B2I_RUN_LEN];
    const b2i_shuffle_ops *ops;
    size_t stride = nelems + 67;
    b2i_plane planes[B2I_MAX_UNIT];

    define_shuffle(data, expected, unit, nelems);
    for (size_t t = 0; (ops = b2i_shuffle_table(t)) != NULL; t++) {
        memset(apart, CANARY, unit * stride);
        ops->shuffle(data, unit, nelems, apart, stride);
        for (size_t k = 0; k < unit; k++) {
            CHECK(memcmp(apart + k * stride, expected + k * nelems, nelems) == 0);
            CHECK(all_canary(apart + k * stride + nelems));
        }
        for (size_t constant = 0; constant < 3; constant++) { /* none, every other, all planes */
            for (size_t k = 0; k < unit; k++) {
                bool run = constant == 2 || (constant == 1 && k % 2 == 0);
                memset(runs[k], (int)k + 1, B2I_RUN_LEN);
                planes[k] =
                    run ? (b2i_plane){ runs[k], 0 } : (b2i_plane){ apart + k * stride, SIZE_MAX };
            }
            memset(back, 0, unit * nelems);
            ops->unshuffle(planes, unit, nelems, back);
            size_t wrong = 0;
            for (size_t i = 0; i < unit * nelems; i++) {
                wrong += back[i] != (planes[i % unit].mask == 0 ? i % unit + 1 : data[i]);
            }
            CHECK(wrong == 0);
            check_stream_kernel(ops, planes, unit, nelems, back);
        }
    }
}

/* Running sums of planes of every length up to some vectors, up to a guard page and in place. */
static void test_sums(void)
{
    const b2i_shuffle_ops *ops;

    for (size_t t = 0; (ops = b2i_shuffle_table(t)) != NULL; t++) {
        for (size_t n = 0; n < 1000 && ops->sum != NULL; n += n < 200 ? 1 : 31) {
            uint8_t *src = source.end - n, *dst = output.end - n, sum = 0;
            memcpy(src, data + n, n);
            for (size_t i = 0; i < n; i++) {
                expected[i] = sum = (uint8_t)(sum + src[i]);
            }
            memset(dst - CANARY_LEN, CANARY, CANARY_LEN);
            ops->sum(src, n, dst);
            CHECK(memcmp(dst, expected, n) == 0);
            CHECK(all_canary(dst - CANARY_LEN));
            ops->sum(src, n, src);
            CHECK(memcmp(src, expected, n) == 0);
        }
    }
}

/* Tables follow the features; the strongest one is in use. */
static void test_tables(void)
{
    size_t ntables = 0;
    const char *last = NULL;

    for (; b2i_shuffle_table(ntables) != NULL; ntables++) {
        last = b2i_shuffle_table(ntables)->name;
        CHECK(b2i_bitshuffle_table(ntables) != NULL);
        CHECK(strcmp(b2i_bitshuffle_table(ntables)->name, last) == 0);
        printf("table %zu: %s\n", ntables, last);
    }
    CHECK(b2i_bitshuffle_table(ntables) == NULL);
    CHECK(strcmp(b2i_shuffle_table(0)->name, "generic") == 0);
    CHECK(strcmp(b2c_simd_level(), last) == 0);

    b2i_cpu_limit(0);
    CHECK(b2i_cpu_features() == 0);
    CHECK(b2i_shuffle_table(1) == NULL && b2i_bitshuffle_table(1) == NULL);
    CHECK(strcmp(b2c_simd_level(), last) == 0); /* was chosen before */
    b2i_cpu_limit(~0u);
    CHECK(b2i_shuffle_table(ntables) == NULL);
    CHECK(ntables == 1 || b2i_shuffle_table(ntables - 1) != NULL);
}

int main(void)
{
    static const size_t wide[] = { 48, 64, 100, 255 };
    uint64_t state = 88172645463325252;

    for (size_t i = 0; i < MAX_LEN; i++) {
        data[i] = (uint8_t)(harness_random(&state) >> 32);
    }
    source = guarded_new();
    output = guarded_new();
    test_tables();
    test_alignment();
    test_sums();
    for (size_t width = 1; width <= 32; width++) {
        test_width(width);
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        test_width(wide[i]);
    }
    for (size_t unit = 2; unit <= 40; unit++) {
        test_planes(unit, 2);
        test_planes(unit, 63);
        test_planes(unit, 128);
        test_planes(unit, 1001);
    }
    test_planes(255, 777);
    return RESULT();
}
