/*
 * trial.c: what the encoder decides by looking at the data: whether to split, for which
 * streams a lower level does as well, and where blocks should be shorter.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of the chunk are filtered like a block and compressed in several
 * ways.  The decisions hold for the whole chunk, so that they depend on nothing else.
 */
#include "chunk_enc.h"
#include "checked.h"
#include "shuffle.h"
#include "tune.h"

enum {
    KIB = 1024,
    NPIECES = 8,
    MIN_NBYTES = 512 * KIB, /* smaller chunks do not pay for trying levels */
    MIN_SAMPLE = 32 * KIB,
    MAX_SAMPLE = 128 * KIB,
    LARGE_NBYTES = 256 * KIB, /* chunks below pay only for a fast trial */
    SPLIT_CLEVEL = 3,         /* which of split and whole is smaller hardly depends on the level */
    MIN_CLEVEL = 3,           /* levels below are fast as they are */
    MANY_BLOCKS = 8,          /* of which one can be compressed for a trial */
    LONG_STREAM = 128 * KIB
};

/* Pieces of equal length and whole groups of items, one after the other. */
static b2c_status gather_sample(b2i_worker *w, const b2i_plan *p, b2i_span *out, b2c_error *err)
{
    size_t want = p->src.n / 16;
    want = want < MIN_SAMPLE ? MIN_SAMPLE : want > MAX_SAMPLE ? MAX_SAMPLE : want;
    size_t len = want / NPIECES, group = 8 * (size_t)p->typesize;
    len = len < group ? group : len - len % group;
    uint8_t *sample = b2i_scratch_get(&w->in, NPIECES * len);
    if (sample == NULL) {
        return b2i_fail_memory(err);
    }
    for (size_t i = 0; i < NPIECES; i++) {
        size_t at = (p->src.n - len) / (NPIECES - 1) * i;
        memcpy(sample + i * len, p->src.p + at - at % p->typesize, len);
    }
    *out = b2i_span_of(sample, NPIECES * len);
    return B2C_OK;
}

/* The sample, filtered like a block of its own. */
static b2c_status filter_sample(b2i_worker *w, const b2i_plan *p, b2i_span sample,
                                const uint8_t **out, b2c_error *err)
{
    b2i_plan one_block = *p;
    one_block.src = sample;
    one_block.blocksize = (uint32_t)sample.n;
    one_block.nblocks = 1;
    return b2i_block_filter(w, &one_block, 0, out, err);
}

/* Adds what n bytes need as a stream. */
static b2c_status add_stream(b2i_worker *w, const b2i_plan *p, int clevel, const uint8_t *src,
                             size_t n, size_t *total, b2c_error *err)
{
    size_t len = 0;
    if (b2i_is_run(src, n)) {
        *total += 4;
        return B2C_OK;
    }
    uint8_t *out = b2i_scratch_get(&w->c, n);
    if (out == NULL) {
        return b2i_fail_memory(err);
    }
    B2I_TRY(b2i_plan_encode(w, p, NULL, clevel, b2i_span_of(src, n), out, n - 1, &len, err));
    *total += 4 + (len == 0 ? n : len);
    return B2C_OK;
}

/* ---- planes that are the same ---- */

static bool only(const b2i_pipeline *pl, uint8_t filter)
{
    uint8_t filters = 0;
    for (size_t slot = 0; slot < B2C_MAX_FILTERS; slot++) {
        filters |= pl->filters[slot];
    }
    return filters == filter;
}

/* One of the items that are looked at, with one behind it: nothing periodic meets them. */
static const uint8_t *probed_item(const b2i_plan *p, uint32_t probe)
{
    const size_t nitems = p->src.n / p->typesize;
    return p->src.p + probe * 2654435769U % (nitems - 1) * p->typesize;
}

/*
 * Whether two neighbouring bytes of an item are the same in all items, as far as some tell, but
 * often others than in the next item: the signs of small integers, the digits of decimal fractions.
 */
bool b2i_plan_has_twins(const b2i_plan *p)
{
    enum { NPROBES = 64, OFTEN = NPROBES / 8 };
    const size_t typesize = p->typesize, nitems = p->src.n / typesize;
    if (!only(&p->pipeline, B2C_FILTER_SHUFFLE) || nitems < NPROBES) {
        return false;
    }
    for (size_t k = 1; k < typesize; k++) {
        uint32_t probe = 0, changes = 0;
        for (; probe < NPROBES; probe++) {
            const uint8_t *item = probed_item(p, probe);
            if (item[k] != item[k - 1]) {
                break;
            }
            changes += item[k] != item[k + typesize];
        }
        if (probe == NPROBES && changes >= OFTEN) {
            return true;
        }
    }
    return false;
}

/* ---- items that stay the same ---- */

/*
 * Short chunks whose planes repeat at the same places: codes and matches of each plane would take
 * more than they save.  Most items are like the first one that stays for the next, or like the ones
 * before them, and the others differ in most of their bytes, as far as some tell.  LZ4HC, without
 * codes, needs more such items; Zstandard does better with planes where each item stays for a
 * while, and its first level always.
 */
static bool changes_rarely(const b2i_plan *p)
{
    enum { NPROBES = 256, FIRST = 32, FEW = NPROBES / 16, MAX_TYPESIZE = 16 };
    const uint8_t codec = p->cparams->codec;
    const size_t typesize = p->typesize;
    const uint8_t *common = NULL;
    size_t ncommon = 0, nchanges = 0, ndiffering = 0;
    if (p->src.n >= LARGE_NBYTES || codec == B2C_CODEC_BLOSCLZ || codec == B2C_CODEC_LZ4 ||
        (codec == B2C_CODEC_ZSTD && p->cparams->clevel == 1) ||
        !only(&p->pipeline, B2C_FILTER_SHUFFLE) || typesize > MAX_TYPESIZE ||
        p->src.n < 2 * typesize) {
        return false;
    }
    for (uint32_t probe = 0; probe < NPROBES; probe++) {
        const uint8_t *item = probed_item(p, probe);
        size_t n = 0;
        for (size_t k = 0; k < typesize; k++) {
            n += item[k] != item[k + typesize];
        }
        common = common == NULL && n == 0 ? item : common;
        ncommon += common != NULL && memcmp(item, common, typesize) == 0;
        nchanges += n > 0;
        ndiffering += n;
        if (probe + 1 == FIRST && nchanges >= FIRST - FIRST / 8) {
            return false; /* as most data */
        }
    }
    const bool is_common = ncommon >= NPROBES / 4 * (codec == B2C_CODEC_LZ4HC ? 3 : 2);
    const bool is_rare = codec != B2C_CODEC_ZSTD && nchanges <= FEW;
    return (is_common || is_rare) && ndiffering >= nchanges * typesize / 4 * 3;
}

int b2i_plan_clevel(const b2i_plan *plan)
{
    const b2c_cparams *cp = plan->cparams;
    if (cp->codec == B2C_CODEC_LZ4HC && cp->clevel <= 2) {
        return B2I_CLEVEL_FINE;
    }
    bool of_plane = plan->is_split && cp->codec == B2C_CODEC_ZSTD && cp->clevel == 9;
    return of_plane ? B2I_CLEVEL_OF_PLANE : cp->clevel;
}

int b2i_plan_clevel_far(const b2i_plan *p)
{
    enum { WITH_FAR = 6, FAR_BY_ITSELF = 8 }; /* the level between sometimes looks less far */
    const int clevel = p->cparams->clevel;
    if (p->cparams->codec != B2C_CODEC_ZSTD || clevel == 0 || clevel >= FAR_BY_ITSELF) {
        return clevel;
    }
    return (clevel < WITH_FAR ? clevel : WITH_FAR) + B2I_CLEVEL_FAR;
}

/* The longest planes of which a codec finds that they are the same; best are those half as long. */
static size_t longest_twins(uint8_t codec)
{
    switch (codec) {
    case B2C_CODEC_LZ4:
    case B2C_CODEC_LZ4HC:
    case B2C_CODEC_ZLIB:
        return 16 * KIB; /* of windows of 32 and 64 KiB: nearer matches are preferred */
    case B2C_CODEC_ZSTD:
        return SIZE_MAX;
    default:
        return 0; /* BloscLZ does not go on where it finds little at the start */
    }
}

/*
 * Where planes are the same, blocks that are not split need only one of them, if the codec finds
 * that: blocks of chosen size are made short enough, and Zstandard is told.  A piece is compressed
 * split, and whole at the level asked for and at the first.
 */
static b2c_status try_whole(b2i_worker *w, b2i_plan *p, bool *is_whole, b2c_error *err)
{
    const size_t typesize = p->typesize, longest = longest_twins(p->cparams->codec);
    size_t blocksize = p->blocksize, best = SIZE_MAX;
    *is_whole = false;
    if (p->cparams->blocksize == 0 && blocksize / typesize > longest / 2) {
        blocksize = longest / 2 * typesize;
    }
    if (blocksize == 0 || blocksize / typesize > longest || p->src.n < MIN_SAMPLE ||
        !b2i_plan_has_twins(p)) {
        return B2C_OK;
    }
    size_t n = p->src.n / 16 < MIN_SAMPLE ? MIN_SAMPLE : p->src.n / 16;
    n = (n < blocksize ? n : blocksize) / (8 * typesize) * (8 * typesize);
    b2i_plan q = *p;
    q.src = b2i_span_of(p->src.p + (p->src.n - n) / 2 / typesize * typesize, n);
    q.blocksize = (uint32_t)n;
    q.nblocks = 1;
    uint8_t *out = b2i_scratch_get(&w->in, n);
    if (out == NULL) {
        return b2i_fail_memory(err);
    }
    q.is_split = true;
    int first = p->cparams->codec == B2C_CODEC_ZSTD ? 1 + B2I_CLEVEL_FAR : 1, taken = 0;
    int ways[] = { b2i_plan_clevel(&q), b2i_plan_clevel_far(p), first };
    for (int i = 0; i < 3; i++) {
        size_t len;
        bool zeros;
        q.is_split = i == 0;
        memset(q.clevels, ways[i], sizeof q.clevels);
        B2I_TRY(b2i_block_encode(w, &q, 0, out, n, &len, &zeros, err));
        len = len == 0 ? n : len;
        if (len < best) {
            taken = i;
            best = i > 0 ? len : len - len / 16;
        }
    }
    if (taken > 0) {
        *is_whole = true;
        p->is_split = false;
        memset(p->clevels, ways[taken], sizeof p->clevels);
        p->blocksize = (uint32_t)blocksize;
        p->nblocks = (uint32_t)b2i_ceil_div(p->src.n, blocksize);
    }
    return B2C_OK;
}

/* ---- rows of bits that are the same ---- */

/*
 * How many rows of bits of a bitshuffled block are between one and its like, of three in four that
 * have one before them, as far as some items tell: digits of decimal fractions repeat, and so do
 * channels of pictures.  0: fewer than one in five that change have one.
 */
static size_t rows_to_twin(const b2i_plan *p)
{
    enum { NPROBES = 64, MAX_TYPESIZE = 16, MAX_ROWS = 8 * MAX_TYPESIZE };
    const size_t typesize = p->typesize, nrows = 8 * typesize;
    uint64_t rows[MAX_ROWS] = { 0 };
    size_t counts[MAX_ROWS] = { 0 }, ntwins = 0, nothers = 0, apart = 0;
    if (typesize > MAX_TYPESIZE || p->src.n / typesize < NPROBES) {
        return 0;
    }
    for (uint32_t probe = 0; probe < NPROBES; probe++) {
        const uint8_t *item = probed_item(p, probe);
        for (size_t row = 0; row < nrows; row++) {
            rows[row] |= (uint64_t)(item[row / 8] >> row % 8 & 1) << probe;
        }
    }
    for (size_t row = 0; row < nrows; row++) {
        size_t n = 1;
        while (n <= row && rows[row - n] != rows[row]) {
            n++;
        }
        if (rows[row] != 0 && rows[row] != UINT64_MAX) {
            counts[n <= row ? n : 0]++;
            ntwins += n <= row;
            nothers += n > row;
        }
    }
    for (size_t n = 0; ntwins > nothers / 4 && n < ntwins - ntwins / 4; n += counts[apart]) {
        apart++;
    }
    return apart;
}

/*
 * Shortens blocks whose size may be chosen so that rows have their likes where the codec finds
 * them: LZ4 often forgets what is farther back than a third of its window.  BloscLZ, which looks
 * 8 KiB back, would need blocks that are too short.
 */
static void reach_twins(b2i_plan *p)
{
    const uint8_t codec = p->cparams->codec;
    const size_t reach = codec == B2C_CODEC_LZ4     ? 22 * KIB
                         : codec == B2C_CODEC_LZ4HC ? 60 * KIB
                         : codec == B2C_CODEC_ZLIB  ? 31 * KIB
                                                    : SIZE_MAX;
    if (p->cparams->blocksize != 0 || p->blocksize <= reach ||
        !only(&p->pipeline, B2C_FILTER_BITSHUFFLE)) {
        return;
    }
    const size_t row = p->blocksize / 8 / p->typesize, apart = rows_to_twin(p);
    if (apart > 0 && row > reach / apart) {
        const uint64_t nblocks = b2i_ceil_div(p->src.n, reach / apart * 8 * p->typesize);
        p->blocksize = (uint32_t)b2i_tune_equal(p->cparams, p->src.n, (size_t)nblocks);
        p->nblocks = (uint32_t)b2i_ceil_div(p->src.n, p->blocksize);
    }
}

/* ---- splitting and levels ---- */

/* Splitting is faster, and taken when it loses no more than 1/256. */
static b2c_status try_split(b2i_worker *w, b2i_plan *p, b2i_span sample, b2c_error *err)
{
    const b2c_cparams *cp = p->cparams;
    const bool is_quick = p->src.n < LARGE_NBYTES ||
                          (cp->codec == B2C_CODEC_LZ4HC && cp->clevel < B2I_CLEVEL_OF_RATIO);
    const int aim = is_quick ? 1 : SPLIT_CLEVEL, clevel = cp->clevel < aim ? cp->clevel : aim;
    size_t whole = 0, streams = 0, len = sample.n / p->typesize;
    B2I_TRY(add_stream(w, p, clevel, sample.p, sample.n, &whole, err));
    for (size_t k = 0; k < p->typesize; k++) {
        B2I_TRY(add_stream(w, p, clevel, sample.p + k * len, len, &streams, err));
    }
    p->is_split = streams <= whole + whole / 256;
    memset(p->clevels, b2i_plan_clevel(p), sizeof p->clevels);
    return B2C_OK;
}

/*
 * Adds what n bytes need as streams no longer than those of the chunk: what a level of Zstandard
 * does depends on their length.
 */
static b2c_status add_pieces(b2i_worker *w, const b2i_plan *p, int clevel, const uint8_t *src,
                             size_t n, size_t *total, b2c_error *err)
{
    size_t most = p->blocksize / b2i_plan_nstreams(p, p->blocksize);
    size_t npieces = (size_t)b2i_ceil_div(n, most);
    for (size_t i = 0; i < npieces; i++) {
        size_t from = n * i / npieces, to = n * (i + 1) / npieces;
        B2I_TRY(add_stream(w, p, clevel, src + from, to - from, total, err));
    }
    return B2C_OK;
}

/*
 * The first level for streams that shrink no more at the level asked for, but for those of which
 * there is little left: fast[k] of len bytes of a sample.
 */
static b2c_status try_block(b2i_worker *w, b2i_plan *p, const size_t *fast, size_t nstreams,
                            size_t len, b2c_error *err)
{
    const uint8_t *src;
    const size_t n = p->blocksize / nstreams;
    B2I_TRY(b2i_block_filter(w, p, p->nblocks / 2, &src, err));
    for (size_t k = 0; k < nstreams; k++) {
        size_t one = 0, asked = 0;
        if (fast[k] >= len / 8) {
            B2I_TRY(add_stream(w, p, 1, src + k * n, n, &one, err));
            B2I_TRY(add_stream(w, p, p->clevels[k], src + k * n, n, &asked, err));
            p->clevels[k] = one <= asked ? 1 : p->clevels[k];
        }
    }
    return B2C_OK;
}

/*
 * Whether a lower level is not even tried.  Level 3 passes by more in long streams than in pieces;
 * Zstandard's, matches of 4 bytes.  Of LZ4HC, 2 is like 1, and 3 and 4 do not do where that loses
 * much.
 */
static bool is_passed_by(const b2i_plan *p, int clevel, size_t nstreams, size_t fast, size_t aim)
{
    const bool is_lz4hc = p->cparams->codec == B2C_CODEC_LZ4HC;
    const bool may_lose = is_lz4hc && p->cparams->clevel < B2I_CLEVEL_OF_RATIO;
    return (is_lz4hc && (clevel == 2 || (clevel < 6 && fast > aim + aim / 4))) ||
           (!may_lose && clevel == 3 && p->blocksize / nstreams > LONG_STREAM);
}

/* What the first level makes of each stream of some bytes, and of all of them. */
static b2c_status try_fast(b2i_worker *w, const b2i_plan *p, b2i_span sample, size_t nstreams,
                           const uint8_t **filtered, size_t *each, size_t *total, b2c_error *err)
{
    const size_t len = sample.n / nstreams;
    *total = 0;
    B2I_TRY(filter_sample(w, p, sample, filtered, err));
    for (size_t k = 0; k < nstreams; k++) {
        each[k] = 0;
        B2I_TRY(add_pieces(w, p, 1, *filtered + k * len, len, &each[k], err));
        *total += each[k];
    }
    return B2C_OK;
}

/*
 * Short matches come by chance, and the more the farther one looks, as in counts and sums of small
 * steps: pieces show few of them.  Streams that looked like noise, 'fast' of len bytes, do not get
 * one of Zstandard's levels that pass them by where one has many as a whole.
 */
static b2c_status keep_levels(b2i_worker *w, b2i_plan *p, const size_t *fast, size_t nstreams,
                              size_t len, b2c_error *err)
{
    enum { NOISE = 16, MANY = 8, PASSES_BY = 2 };
    const int asked = b2i_plan_clevel(p);
    const size_t n = b2i_plan_block_len(p, p->nblocks / 2) / nstreams;
    const uint8_t *src = NULL;
    for (size_t k = 0; k < nstreams; k++) {
        if (p->clevels[k] > PASSES_BY || p->clevels[k] == asked || fast[k] < len - len / NOISE) {
            continue;
        }
        if (src == NULL) {
            B2I_TRY(b2i_block_filter(w, p, p->nblocks / 2, &src, err));
        }
        if (b2i_short_matches_save(src + k * n, n, n / MANY)) {
            p->clevels[k] = (uint8_t)asked;
        }
    }
    return B2C_OK;
}

/* As many bytes as the sample has, which lie together. */
static b2i_span middle_of(const b2i_plan *p, size_t n)
{
    const size_t at = (p->src.n - n) / 2;
    return b2i_span_of(p->src.p + at - at % p->typesize, n);
}

static bool is_quarter_less(size_t n, size_t than)
{
    return n < than - than / 4;
}

/*
 * The lowest level for each of nstreams streams of len bytes, so that all together lose no more
 * than 1/160, or 1/1280 where the ratio was asked for.  Zstandard may lose it in one of them;
 * the codecs with short windows do worse in whole streams than in pieces, and no stream of
 * theirs may lose more than 1/16.
 *
 * What shrinks to an eighth at once is left alone, or tried with a block: its matches are longer
 * than a piece, and higher levels find them.  So is what shrinks by a quarter more where it lies
 * together, as evenly spaced numbers do: it repeats farther away than pieces show.
 */
static b2c_status try_levels(b2i_worker *w, b2i_plan *p, b2i_span sample, size_t nstreams,
                             b2c_error *err)
{
    static const uint8_t lower[] = { 1, 2, 3, 4, 6 };
    const bool is_zstd = p->cparams->codec == B2C_CODEC_ZSTD;
    const bool wants_ratio = p->cparams->clevel >= B2I_CLEVEL_OF_RATIO;
    const size_t len = sample.n / nstreams;
    size_t fast[B2I_MAX_UNIT], together[B2I_MAX_UNIT], aims[B2I_MAX_UNIT];
    size_t all_fast, all_together, total = 0;
    const uint8_t *src;
    B2I_TRY(try_fast(w, p, middle_of(p, sample.n), nstreams, &src, together, &all_together, err));
    B2I_TRY(try_fast(w, p, sample, nstreams, &src, fast, &all_fast, err));
    const bool is_far = is_quarter_less(all_together, all_fast);
    if (all_fast < nstreams * len / 8) {
        bool pays = is_zstd && !wants_ratio && p->nblocks >= MANY_BLOCKS;
        return pays ? try_block(w, p, fast, nstreams, len, err) : B2C_OK;
    }
    for (size_t k = 0; k < nstreams; k++) {
        aims[k] = 0;
        if (is_far && is_quarter_less(together[k], fast[k])) {
            continue;
        }
        B2I_TRY(add_pieces(w, p, p->clevels[k], src + k * len, len, &aims[k], err));
        total += aims[k];
    }
    size_t room = total / (wants_ratio ? 1280 : 160);
    for (size_t k = 0; k < nstreams; k++) {
        size_t share = is_zstd || room < aims[k] / 16 ? room : aims[k] / 16;
        size_t most = aims[k] + share;
        size_t n = fast[k];
        for (size_t i = 0; aims[k] > 0 && i < sizeof lower && lower[i] < p->clevels[k]; i++) {
            if (is_passed_by(p, lower[i], nstreams, fast[k], aims[k])) {
                continue;
            }
            if (lower[i] > 1) {
                n = 0;
                B2I_TRY(add_pieces(w, p, lower[i], src + k * len, len, &n, err));
            }
            if (n <= most) {
                p->clevels[k] = lower[i];
                room -= n > aims[k] ? n - aims[k] : 0;
            }
        }
    }
    return is_zstd ? keep_levels(w, p, fast, nstreams, len, err) : B2C_OK;
}

b2c_status b2i_plan_try(b2c_ctx *ctx, b2i_plan *p, b2i_split split, b2c_error *err)
{
    if (p->codec->encode_block != NULL || b2i_pipeline_has_user(&p->pipeline) ||
        b2i_pipeline_needs_shape(&p->pipeline)) {
        return B2C_OK; /* these are shown blocks, not pieces */
    }
    const uint8_t id = p->cparams->codec;
    const bool slow = id == B2C_CODEC_LZ4HC || id == B2C_CODEC_ZLIB || id == B2C_CODEC_ZSTD;
    /* All that repeats in texts and pictures is farther apart than a piece. */
    bool levels = slow && p->typesize > 1 && p->src.n >= MIN_NBYTES &&
                  p->cparams->clevel >= MIN_CLEVEL && !p->cparams->use_dict &&
                  !b2i_pipeline_has(&p->pipeline, B2C_FILTER_DELTA);
    b2i_worker *w;
    b2i_span sample;
    reach_twins(p);
    B2I_TRY(b2i_ctx_worker(ctx, 0, &w, err));
    if (split != B2I_SPLIT_NO && p->cparams->splitmode == B2C_SPLIT_AUTO && !p->cparams->use_dict) {
        bool is_whole;
        B2I_TRY(try_whole(w, p, &is_whole, err));
        if (is_whole) {
            return B2C_OK;
        }
        if (changes_rarely(p)) {
            p->is_split = false;
            return B2C_OK; /* nor are levels tried, for chunks so short */
        }
    }
    if (split != B2I_SPLIT_TRY && !levels) {
        return B2C_OK;
    }
    B2I_TRY(gather_sample(w, p, &sample, err));
    if (split == B2I_SPLIT_TRY) {
        const uint8_t *filtered;
        B2I_TRY(filter_sample(w, p, sample, &filtered, err));
        B2I_TRY(try_split(w, p, b2i_span_of(filtered, sample.n), err));
    }
    /* The highest level finds short matches far away, which pieces do not show. */
    levels = levels && (p->is_split || p->cparams->clevel < 9);
    return levels ? try_levels(w, p, sample, p->is_split ? p->typesize : 1, err) : B2C_OK;
}
