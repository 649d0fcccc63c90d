/*
 * lz_sparse.h: the search of lz_search.h for planes of one value, but for single bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of that template.  Planes of sparse data are so.  There it cannot be predicted where a run
 * ends, nor whether the byte behind it was seen with a run as long, and each wrong guess of the
 * processor takes as long as all the rest of a sequence.  So the other bytes are found first, 64 at
 * once; each and the run behind it become a match, which is chosen without a branch:
 *
 *   no literal    with where that byte was seen with the longest run
 *   one literal   the byte, then a match with the longest run of all
 *   two literals  the byte and the first one of the run, which is longer than all known
 */
#ifndef B2I_LZ_SPARSE_H
#define B2I_LZ_SPARSE_H

enum {
    SPARSE_LOOK_AT = NCOMPARED + 16, /* a segment ends so far before the end of the input */
    LEAST_RUNS = 96                  /* there is a match for every so many bytes, or more */
};

/* Whether of the matches in n bytes so many are runs that this search may do well. */
static inline bool seems_sparse(const habits *h, size_t n)
{
    return h->nmatches >= n / LEAST_RUNS && h->nruns >= h->nmatches / 4;
}

static inline unsigned count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555U;
    x = (x & 0x3333333333333333U) + (x >> 2 & 0x3333333333333333U);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return (unsigned)(x * 0x0101010101010101U >> 56);
}

enum { NOTED = 4 }; /* so many are noted wherever 64 bytes have some, so that no branch is needed */

/*
 * Which of the n bytes at p do not have a value; returns how many those are.  Reads on to the next
 * multiple of NCOMPARED.
 */
static size_t find_others(const uint8_t *p, size_t n, uint8_t value, uint16_t *at)
{
    uint8_t all[NCOMPARED];
    size_t count = 0;
    memset(all, value, sizeof all);
    for (size_t i = 0; i < n; i += NCOMPARED) {
        uint64_t others = ~equal_mask(p + i, all);
        others &= n - i < NCOMPARED ? ((uint64_t)1 << (n - i)) - 1 : UINT64_MAX;
        const unsigned nothers = count_bits(others);
        for (unsigned k = 0; k < NOTED || k < nothers; k++) {
            at[count + k] = (uint16_t)(i + b2i_lz_lowest_bit(others | (uint64_t)1 << 63));
            others &= others - 1;
        }
        count += nothers;
    }
    return count;
}

/* a or b, without a branch. */
static inline size_t choose(bool which, size_t a, size_t b)
{
    return b ^ ((a ^ b) & (0 - (size_t)which));
}

/* Whether a run is near enough to position 'here' and so long; else it is replaced by that. */
static inline bool take_run(b2i_lz_run *run, uint32_t here, size_t len)
{
    const bool takes = (here - run->at <= LZ_SPARSE_DISTANCE) & (run->len >= len);
    run->at = (uint32_t)choose(takes, run->at, here);
    run->len = (uint32_t)choose(takes, run->len, len);
    return takes;
}

/* Where a run that reaches 'end', where a segment ends, does end. */
static const uint8_t *end_of_run(const search *c, const uint8_t *end, uint8_t value)
{
    const uint8_t *match_end = c->src_end - LZ_LAST_LITERALS;
    return end[-1] == value ? end + b2i_lz_equal(end, end - 1, match_end) : end;
}

/*
 * Elects the value: whether seven of eight bytes lately and next have it, nowhere many fewer, and
 * there are others, which stand alone, not in runs of their own.
 */
static B2I_LZ_APART bool elect_value(search *c)
{
    enum { BEFORE = 3 * NCOMPARED, NVOTERS = BEFORE + NCOMPARED, LEAST = 3, MOST = 12 };
    const uint8_t *p = c->p;
    b2i_lz_sparse *t = &c->t->sparse;
    if (p - c->src < BEFORE) {
        return false;
    }
    const uint8_t value = p[-1] == p[-2] || p[-1] == p[-3] ? p[-1] : p[-2];
    uint8_t all[NCOMPARED];
    unsigned nothers = 0, npairs = 0, most = 0;
    memset(all, value, sizeof all);
    for (p -= BEFORE; p <= c->p; p += NCOMPARED) {
        const uint64_t others = ~equal_mask(p, all);
        const unsigned n = count_bits(others);
        nothers += n;
        npairs += count_bits(others & others >> 1);
        most = n > most ? n : most;
    }
    if (!c->sparse_began || t->value != value) {
        memset(t, 0, sizeof *t);
        t->value = value;
        c->sparse_began = true;
    }
    return nothers >= LEAST && nothers <= NVOTERS / 8 && most <= MOST && npairs <= nothers / 4;
}

/* Searches up to 'end', SPARSE_LOOK_AT bytes before that of the input, or a little further. */
static B2I_LZ_APART bool search_sparse(search *state, const uint8_t *end)
{
    enum { MIN_RUN = 4 };
    search c = *state;
    const positions in = c.positions;
    const uint8_t *p = c.p;
    b2i_lz_sparse *t = &c.t->sparse;
    const uint8_t value = t->value;
    uint16_t others[MAX_SEGMENT + NOTED];
    const size_t nothers = find_others(p, (size_t)(end - p), value, others);
    size_t nmatches = 0;
    end = end_of_run(&c, end, value);
    const uint8_t *run = p + (p[-1] != value), *first = nothers > 0 ? p + others[0] : end;
    if (first - run >= MIN_RUN) { /* one before all others */
        if (!lz_put(&c.sink, c.anchor, run, (size_t)(first - run), 1)) {
            return false;
        }
        c.anchor = first;
        nmatches++;
    }
    for (size_t i = 0; i < nothers; i++) {
        const uint8_t *other = p + others[i], *behind = i + 1 < nothers ? p + others[i + 1] : end;
        const size_t len = (size_t)(behind - other);
        if (len < 2 + MIN_RUN) {
            continue;
        }
        const uint32_t here = position(&in, other);
        b2i_lz_run *seen = &t->behind[*other];
        const uint32_t to_seen = here - seen->at, to_longest = here - t->longest.at;
        const bool as_seen = take_run(seen, here, len),
                   as_longest = take_run(&t->longest, here, len);
        const size_t nlit = choose(as_seen, 0, choose(as_longest, 1, 2));
        const size_t distance = choose(as_seen, to_seen, choose(as_longest, to_longest, 1));
        if (!lz_put(&c.sink, c.anchor, other + nlit, len - nlit, distance)) {
            return false;
        }
        c.anchor = behind;
        nmatches++;
    }
    c.is_sparse = nmatches >= (size_t)(end - p) / LEAST_RUNS;
    c.p = end;
    c.step = 1;
    c.next_step = 0;
    *state = c;
    return true;
}

#endif
