/*
 * special.c: chunks that say in a few bytes what they decode to.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "special.h"
#include "chunk_enc.h"
#include "chunk_format.h"
#include "checked.h"
#include "tune.h"

/* Repeats the len bytes of an item over n bytes, starting at byte 'phase' of the item. */
static void fill_pattern(uint8_t *dst, size_t n, const uint8_t *item, size_t len, size_t phase)
{
    size_t first = len - phase < n ? len - phase : n;
    memcpy(dst, item + phase, first);
    dst += first;
    n -= first;
    if (n == 0) {
        return;
    }
    size_t done = len < n ? len : n;
    memcpy(dst, item, done);
    while (done < n) { /* doubling keeps the phase: 'done' is a multiple of len */
        size_t step = done < n - done ? done : n - done;
        memcpy(dst + done, dst, step);
        done += step;
    }
}

void b2i_special_fill(uint8_t kind, uint8_t typesize, b2i_span value, uint64_t at, uint8_t *dst,
                      size_t n)
{
    static const uint8_t nan32[4] = { 0, 0, 0xC0, 0x7F };
    static const uint8_t nan64[8] = { 0, 0, 0, 0, 0, 0, 0xF8, 0x7F };
    if (kind == B2C_SPECIAL_NAN) {
        value = typesize == 4 ? b2i_span_of(nan32, 4) : b2i_span_of(nan64, 8);
    }
    if (value.n == 0) {
        memset(dst, 0, n);
    } else {
        fill_pattern(dst, n, value.p, value.n, (size_t)(at % value.n));
    }
}

uint32_t b2i_special_blocksize(uint32_t blocksize, uint32_t value_len)
{
    return blocksize < value_len ? value_len : blocksize - blocksize % value_len;
}

static b2c_status check_special(const b2c_cparams *cparams, uint8_t kind, uint64_t nbytes,
                                const uint8_t *value, b2c_error *err)
{
    if (kind < B2C_SPECIAL_ZERO || kind > B2C_SPECIAL_UNINIT) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "kind",
                              "the kind of special value must be from 1 to 4");
    }
    B2I_TRY(b2i_chunk_check_nbytes(nbytes, err));
    if (nbytes % cparams->typesize != 0) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "nbytes",
                              "must be a multiple of the type size");
    }
    if (kind == B2C_SPECIAL_NAN && cparams->typesize != 4 && cparams->typesize != 8) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "typesize",
                              "NaN needs a type size of 4 or 8");
    }
    if (kind == B2C_SPECIAL_VALUE && (value == NULL || nbytes == 0)) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "value",
                              "a repeated value needs the value and at least one item");
    }
    return B2C_OK;
}

b2c_cparams b2i_special_cparams(uint32_t typesize)
{
    b2c_cparams cp;
    b2c_cparams_init(&cp);
    cp.codec = B2C_CODEC_BLOSCLZ;
    cp.typesize = typesize;
    return cp;
}

b2c_status b2i_special_encode(const b2c_cparams *cparams, uint8_t kind, uint64_t nbytes,
                              const uint8_t *value, uint8_t *dst, size_t dst_cap, size_t *dst_len,
                              b2c_error *err)
{
    B2I_TRY(check_special(cparams, kind, nbytes, value, err));
    size_t need = B2C_HEADER_LEN + (kind == B2C_SPECIAL_VALUE ? (size_t)cparams->typesize : 0);
    *dst_len = need;
    if (dst_cap < need) {
        return b2i_fail_room(need, dst_cap, err);
    }
    memset(dst, 0, B2C_HEADER_LEN);
    dst[0] = VERSION_CURRENT;
    dst[1] = 1;
    dst[2] = FLAG_EXTENDED;
    dst[3] = b2i_tune_typesize(cparams);
    b2i_st32le(dst + 4, (uint32_t)nbytes);
    b2i_st32le(dst + 8, b2i_special_blocksize(b2i_tune_blocksize(cparams, (size_t)nbytes),
                                              kind == B2C_SPECIAL_VALUE ? cparams->typesize : 1));
    b2i_st32le(dst + 12, (uint32_t)need);
    dst[31] = (uint8_t)(kind << SPECIAL_SHIFT);
    if (kind == B2C_SPECIAL_VALUE) {
        memcpy(dst + B2C_HEADER_LEN, value, cparams->typesize);
    }
    return B2C_OK;
}

/* Blocks of the size that most readers keep in memory anyway. */
#define ZERO_BLOCKSIZE ((uint32_t)1 << 20)

b2c_status b2i_zeros_encode(uint32_t nbytes, b2i_scratch *scratch, b2i_span *out, b2c_error *err)
{
    uint32_t nblocks = (uint32_t)b2i_ceil_div(nbytes, ZERO_BLOCKSIZE);
    uint32_t data_at = B2C_HEADER_LEN + 4 * nblocks;
    size_t len = data_at + 4 * (size_t)nblocks;
    uint8_t *p = b2i_scratch_get(scratch, len);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    memset(p, 0, len); /* a stream whose size is 0 stands for zeros */
    p[0] = VERSION_CURRENT;
    p[1] = 1;
    p[2] = FLAG_EXTENDED | FLAG_UNSPLIT;
    p[3] = 1;
    b2i_st32le(p + 4, nbytes);
    b2i_st32le(p + 8, nbytes < ZERO_BLOCKSIZE ? nbytes : ZERO_BLOCKSIZE);
    b2i_st32le(p + 12, (uint32_t)len);
    for (uint32_t i = 0; i < nblocks; i++) {
        b2i_st32le(p + B2C_HEADER_LEN + 4 * (size_t)i, data_at + 4 * i);
    }
    *out = b2i_span_of(p, len);
    return B2C_OK;
}
