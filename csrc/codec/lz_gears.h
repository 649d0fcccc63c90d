/*
 * lz_gears.h: a part of lz_search.h: in which gear each segment is searched.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * There are two gears.  The high one hashes eight bytes and strides: it finds fewer but longer
 * matches, which suits most planes and makes a stream of fewer sequences, so that it is also
 * decoded faster.  The low one finds the short matches that other data consist of.  Which of them
 * pays is measured on the way: of every few segments the first ones are coded in both gears in
 * turn, the others in the one that was better.  Each gear keeps a table of its own.
 *
 * lz_pairs.h, lz_brief.h, or what the codec has as own_low, takes the place of the low gear, and
 * lz_sparse.h that of both, where it pays.
 */
#ifndef B2I_LZ_GEARS_H
#define B2I_LZ_GEARS_H

enum {
    NTRIALS = 4,   /* segments searched high, low, low, high */
    CLEARLY = 10,  /* hundredths saved that make the first two of them enough */
    NSEGMENTS = 16 /* until the next trial */
};

/*
 * In planes of bytes of which the low gear saves little, longer steps find nearly all of it; but
 * for levels that step slowly.
 */
static inline gear low_gear(const search *c, const level *lv)
{
    enum { SLOW_LOG = 5 };
    gear low = lv->low;
    low.step += c->made == B2I_MADE_BYTES && c->saves_little && low.skip_log < SLOW_LOG;
    return low;
}

/* One copy of the loop for each length, apart, so that each has the registers to itself. */
static B2I_LZ_APART bool search_high(search *c, const level *lv, const uint8_t *end)
{
    return search_segment(c, &lv->high, 8, false, end);
}

static B2I_LZ_APART bool search_low_6(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, 6, false, end);
}

static B2I_LZ_APART bool search_low_5(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, 5, false, end);
}

/* The same where words are known; near ones are those of the low gears that there are then. */
enum { KNOWN_NEAR_LEN = 5 };

static B2I_LZ_APART bool search_high_known(search *c, const level *lv, const uint8_t *end)
{
    return search_segment(c, &lv->high, 8, true, end);
}

static B2I_LZ_APART bool search_low_known(search *c, const level *lv, const uint8_t *end)
{
    const gear low = low_gear(c, lv);
    return search_segment(c, &low, KNOWN_NEAR_LEN, true, end);
}

static B2I_LZ_APART bool search_brief(search *c, const level *lv, const uint8_t *end)
{
    return search_briefly(c, lv->brief[c->src_end - c->src > B2I_LZ_WINDOW], false, end);
}

static B2I_LZ_APART bool search_brief_near(search *c, const level *lv, const uint8_t *end)
{
    return search_briefly(c, lv->brief[c->src_end - c->src > B2I_LZ_WINDOW], true, end);
}

/* Where matches are many and short. */
static bool search_shortly(search *c, const level *lv, const uint8_t *end)
{
    if (c->period != 0) {
        return search_items(c, end);
    }
    return (LZ_AVOIDS_NEAR && is_near(c->distance) ? search_brief_near : search_brief)(c, lv, end);
}

/*
 * How many bytes a gear was given and made of it: less than none where a match of its own reaches
 * back over literals that were counted before.
 */
typedef struct tally {
    int64_t in, out;
} tally;

/* Where a search ends at the latest. */
static inline const uint8_t *search_end(const search *c)
{
    return c->src_end - SEARCH_END;
}

/* A table gets one of 'step' places of the last 'most' bytes. */
static void learn_last(search *c, uint32_t *table, unsigned min_len, size_t most, size_t step)
{
    const size_t before = (size_t)(c->p - c->src) - 1; /* the first byte has none before it */
    const uint8_t *p = c->p - (before < most ? before : most);
    for (; (size_t)(c->p - p) >= step; p += step) {
        table[learn_slot(p, min_len, HASH_LOG)] = position(&c->positions, p);
    }
}

/*
 * The low gear begins: its table gets some of what the high one has seen.  With an empty table it
 * would lose the trial where something repeats only now and then.
 */
static void learn_before(search *c, const level *lv)
{
    learn_last(c, c->t->near, lv->low_len, 1024, 8);
}

/*
 * The table of the high gear gets some of what a search by a period has passed by: where rows of
 * items repeat, a trial in which all that it has seen is the last trial would find nothing.
 */
static void learn_rows(search *c)
{
    learn_last(c, c->t->far, 8, 16384, 32);
}

typedef enum gear_kind { HIGH, LOW, SPARSE, NKINDS } gear_kind;

/* Codes the next segment in a gear and adds to its tally. */
static bool shift_and_search(search *c, const level *lv, gear_kind kind, tally *t)
{
    const bool low = kind == LOW;
    const uint8_t *p = c->p, *anchor = c->anchor;
    const size_t before = lz_cost(&c->sink);
    const size_t left = (size_t)(search_end(c) - p);
    const uint8_t *end = p + (left < c->segment ? left : c->segment);
    if (LZ_HAS_SPARSE && kind == SPARSE && c->src_end - end < SPARSE_LOOK_AT) {
        end = c->src_end - SPARSE_LOOK_AT;
    }
    bool fits = LZ_HAS_SPARSE && kind == SPARSE ? search_sparse(c, end)
                : LZ_HAS_DICTS && c->known != NULL
                    ? (low ? search_low_known : search_high_known)(c, lv, end)
                : !low                                            ? search_high(c, lv, end)
                : c->own_low != NULL                              ? c->own_low(c, lv, end)
                : LZ_HAS_BRIEF && c->is_brief && lv->brief[0] > 0 ? search_shortly(c, lv, end)
                : lv->low_len <= FINE_PAIRS                       ? search_in_pairs(c, lv, end)
                : lv->low_len == 5                                ? search_low_5(c, lv, end)
                                                                  : search_low_6(c, lv, end);
    /* literals that are pending will be put out one for one, unless a match reaches back to them */
    t->in += c->p - p;
    t->out += (int64_t)(lz_cost(&c->sink) - before) + (c->p - c->anchor) - (p - anchor);
    c->saves_little = low ? t->out * 2 > t->in : c->saves_little;
    return fits;
}

/*
 * Whether the low gear saves so many hundredths.  Where nearly nothing is left to save, which gear
 * was better is chance.
 */
static bool low_saves(const tally *high, const tally *low, int percent)
{
    enum { LEAST = 512 }; /* part of the input */
    const int64_t h = high->out * low->in, l = low->out * high->in;
    return l * 100 < h * (100 - percent) && l + high->in * low->in / LEAST < h;
}

/* Whether half of the cost that is hoped for is reached, and all will cost far more. */
static bool is_hopeless(const search *c)
{
    enum { TENTHS = 22 };
    if (c->easy_ratio == 0) {
        return false;
    }
    const uint64_t cost = lz_cost(&c->sink) - c->begin, in = (uint64_t)(c->anchor - c->src);
    const size_t hoped = (size_t)(c->src_end - c->src) / c->easy_ratio;
    return cost > hoped / 2 && cost * c->easy_ratio * 10 > in * TENTHS;
}

static inline bool saves_enough(const search *c)
{
    return (size_t)(c->anchor - c->src) >= lz_cost(&c->sink) - c->begin + c->enough;
}

/*
 * The length of segment k.  Where matches may be brief, short trials are enough, as the high gear
 * loses much: of periodic items nearly all.  Unfiltered items are often so; but in streams that
 * have shorter segments, 600 bytes of a trial are not to be saved: records get 1.2 times as large
 * there. Longer segments are faster.
 */
static inline size_t length_of(const search *c, const level *lv, unsigned k, size_t segment)
{
    if (c->is_brief) {
        return k >= 2 ? MAX_SEGMENT : k == 0 && c->period != 0 ? segment / 16 : segment / 4;
    }
    const bool tries = LZ_HAS_BRIEF && lv->patience != NO_HIGH && k < 2;
    if (tries && segment >= MAX_SEGMENT / 2 && c->made == B2I_MADE_ITEMS && c->p == c->src + 1) {
        return MAX_SEGMENT / 6;
    }
    return tries && segment == MAX_SEGMENT ? segment / 2 : segment;
}

/*
 * Whether segment k is for search_sparse(): where it seems to do well, at some of them, or has
 * saved a 16th of what the other gear made so far.
 */
static bool sparse_pays(search *c, unsigned k, const tally *sparse, const tally *other)
{
    enum { PART = 16 };
    if (!LZ_HAS_SPARSE || !c->is_sparse || c->known != NULL || c->made == B2I_MADE_BITS || k == 0 ||
        c->src_end - c->p <= SPARSE_LOOK_AT) {
        return false;
    }
    return sparse->in == 0 ? (k & (k - 1)) == 0 && elect_value(c)
                           : sparse->out * other->in * PART <= other->out * sparse->in * (PART - 1);
}

/*
 * Rows of bits often begin with those of noise.  Where no gear has saved anything so far, the trial
 * begins anew as soon as one does.  Until then it is the low one, for the high one passes by what
 * is short; in long streams, where that would take too long, one segment of three.
 */
static bool waits(const search *c, const tally *tallies)
{
    enum { LEAST = 512 }; /* part that is saved */
    const int64_t in = tallies[HIGH].in + tallies[LOW].in;
    return c->made == B2I_MADE_BITS && tallies[HIGH].out + tallies[LOW].out > in - in / LEAST;
}

static gear_kind waiting_gear(const search *c, unsigned k)
{
    return c->src_end - c->src > B2I_LZ_WINDOW && k % 3 > 0 ? HIGH : LOW;
}

/*
 * Whether to search low, after so many trials.  A search of its own that has its kind of data is
 * faster, and stays where it costs some hundredths: which gear was better in one pair of segments
 * is often chance.
 */
static bool prefers_low(const search *c, const level *lv, unsigned ntrials, const tally *tallies)
{
    enum { PAIR = 3, BOTH = 5 };
    const tally *high = &tallies[HIGH], *low = &tallies[LOW];
    if (c->own_low != NULL && c->period > 0) {
        return !low_saves(low, high, ntrials < NTRIALS ? PAIR : BOTH);
    }
    return low_saves(high, low, ntrials < NTRIALS ? CLEARLY : lv->patience);
}

/* Whether the first trial of the high gear says enough: a short one does of brief matches alone. */
static inline bool has_tried(const search *c, const tally *high, size_t segment)
{
    return c->is_brief || high->in >= (int64_t)(segment / 2);
}

/* Up to 'end', or a little further, or until enough is saved.  False when that will not fit. */
static bool search_all(search *c, const level *lv, const uint8_t *end)
{
    const size_t segment = c->segment;
    tally tallies[NKINDS] = { { 0, 0 } };
    unsigned ntrials = NTRIALS;
    gear_kind kind = HIGH;
    bool has_low = lv->low_len <= FINE_PAIRS;
    for (unsigned k = 0; c->p < end && !saves_enough(c);) {
        c->segment = length_of(c, lv, k, segment);
        if (sparse_pays(c, k, &tallies[SPARSE], &tallies[kind])) { /* until it pays no more */
            if (!shift_and_search(c, lv, SPARSE, &tallies[SPARSE])) {
                return false;
            }
            continue;
        }
        if (k == 0) {
            memset(tallies, 0, sizeof tallies);
            ntrials = NTRIALS;
        } else if (k == 2 && has_tried(c, &tallies[HIGH], segment) &&
                   prefers_low(c, lv, k, tallies)) {
            ntrials = k;
        }
        if (lv->patience == NO_HIGH) {
            kind = LOW;
        } else if (k < ntrials) {
            kind = k == 1 || k == 2 ? LOW : HIGH;
        } else if (k == ntrials) {
            kind = prefers_low(c, lv, ntrials, tallies) ? LOW : HIGH;
        }
        const bool waited = lv->patience != NO_HIGH && k >= ntrials && waits(c, tallies);
        kind = waited ? waiting_gear(c, k) : kind;
        if (kind == LOW && !has_low) {
            learn_before(c, lv);
            has_low = true;
        }
        if (k == 0 && c->period != 0) {
            learn_rows(c);
        }
        if (!shift_and_search(c, lv, kind, &tallies[kind]) || is_hopeless(c)) {
            return false;
        }
        if (c->gives_up != NULL && c->gives_up(c)) {
            c->gave_up = true;
            return false;
        }
        k = waited && !waits(c, tallies) ? 0 : (k + 1) % NSEGMENTS;
    }
    return true;
}

#endif
