/*
 * places.c: where the chunks of an opened frame are: each at a place of its own, and none reaches
 * into the next one, so that all of them together are no larger than the frame.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"

static bool is_payload(b2i_entry e)
{
    return (e & B2I_ENTRY_SPECIAL) == 0;
}

static bool is_sorted(const b2i_entry *places, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (places[i] < places[i - 1]) {
            return false;
        }
    }
    return true;
}

int b2i_compare_entries(const void *a, const void *b)
{
    b2i_entry x = *(const b2i_entry *)a, y = *(const b2i_entry *)b;
    return (x > y) - (x < y);
}

/* Sorts by the digits from the last to the first: the time does not depend on the order. */
static void sort_by_digits(b2i_entry *v, b2i_entry *tmp, size_t n)
{
    enum { DIGIT_BITS = 11, NDIGITS = 1 << DIGIT_BITS };
    b2i_entry all = 0, *from = v, *to = tmp;
    for (size_t i = 0; i < n; i++) {
        all |= v[i];
    }
    for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += DIGIT_BITS) {
        size_t at[NDIGITS] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++) {
            at[from[i] >> shift & (NDIGITS - 1)]++;
        }
        for (size_t d = 0; d < NDIGITS; d++) {
            size_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) {
            to[at[from[i] >> shift & (NDIGITS - 1)]++] = from[i];
        }
        b2i_entry *other = from;
        from = to;
        to = other;
    }
    if (from != v) {
        memcpy(v, from, n * sizeof *v);
    }
}

/*
 * Moves entries to 'dropped' until those in v are in order; returns how many.  Mostly these are
 * chunks that were written anew, at the end of the file or where there was room.  The entry before
 * is one of them when several in turn are below it.
 */
static size_t drop_odd(b2i_entry *v, b2i_entry *dropped, size_t n)
{
    enum { SEVERAL = 8 };
    size_t nkept = 0, ndropped = 0, in_turn = 0;
    for (size_t i = 0; i < n; i++) {
        if (nkept > 0 && v[i] < v[nkept - 1] && in_turn < SEVERAL) {
            dropped[ndropped++] = v[i];
            in_turn++;
            continue;
        }
        if (nkept > 0 && v[i] < v[nkept - 1]) {
            i -= in_turn; /* these are still there: what is kept ends before them */
            ndropped -= in_turn;
            while (nkept > 0 && v[i] < v[nkept - 1]) {
                dropped[ndropped++] = v[--nkept];
            }
        }
        v[nkept++] = v[i];
        in_turn = 0;
    }
    return ndropped;
}

/* Places are mostly in order: what is not is sorted by itself, and merged. */
static void sort(b2i_entry *v, b2i_entry *tmp, size_t n)
{
    size_t nodd = drop_odd(v, tmp, n), nkept = n - nodd;
    if (nodd > n / 4) {
        memcpy(v + nkept, tmp, nodd * sizeof *v);
        sort_by_digits(v, tmp, n);
        return;
    }
    sort_by_digits(tmp, v + nkept, nodd);
    for (size_t to = n; nodd > 0; to--) {
        bool is_odd = nkept == 0 || tmp[nodd - 1] > v[nkept - 1];
        v[to - 1] = is_odd ? tmp[--nodd] : v[--nkept];
    }
}

/* Copies the places of n entries, not more than 'max' of them; returns how many. */
static size_t collect(const b2i_entry *entries, uint64_t n, b2i_entry *places, size_t max)
{
    enum { PIECE = 64 }; /* of special entries, which come in long runs */
    size_t nplaces = 0;
    for (uint64_t at = 0; at < n && nplaces < max; at += PIECE) {
        uint64_t end = n - at < PIECE ? n : at + PIECE;
        b2i_entry all = B2I_ENTRY_SPECIAL;
        for (uint64_t i = at; i < end; i++) {
            all &= entries[i];
        }
        for (uint64_t i = at; all == 0 && i < end; i++) {
            if (is_payload(entries[i])) {
                places[nplaces++] = entries[i];
            }
        }
    }
    return nplaces;
}

/* The places of all entries, of which so many are special. */
static b2c_status list(const b2i_state *now, uint64_t nspecial, b2i_entry **places, size_t *nplaces,
                       b2c_error *err)
{
    size_t n = now->entries == NULL ? 0 : (size_t)(now->nchunks - nspecial);
    b2i_entry *v = b2i_malloc((n > 0 ? n : 1) * sizeof *v); /* entries have this size, too */
    if (v == NULL) {
        return b2i_fail_memory(err);
    }
    n = n == 0 ? 0 : collect(now->entries, now->nchunks, v, n);
    if (!is_sorted(v, n)) {
        b2i_entry *tmp = b2i_malloc(n * sizeof *tmp);
        if (tmp == NULL) {
            b2i_free(v);
            return b2i_fail_memory(err);
        }
        sort(v, tmp, n);
        b2i_free(tmp);
    }
    *places = v;
    *nplaces = n;
    return B2C_OK;
}

b2c_status b2i_places_sorted(const b2i_state *now, b2i_entry **places, size_t *nplaces,
                             b2c_error *err)
{
    uint64_t nlisted = now->entries == NULL ? 0 : now->nchunks; /* else: special ones */
    return list(now, b2i_index_nspecial(now->entries, nlisted), places, nplaces, err);
}

/* Tells the first two numbers of a chunk that has several. */
static b2c_status fail_shared(const b2i_state *now, b2i_entry place, b2c_error *err)
{
    uint64_t first = 0, second;
    while (now->entries[first] != place) {
        first++;
    }
    second = first + 1;
    while (now->entries[second] != place) {
        second++;
    }
    (void)b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                         "the index names a chunk by a second number", first, second);
    if (err != NULL) {
        err->field = "index";
    }
    b2i_err_chunk(err, (int64_t)second);
    return B2C_E_CORRUPT;
}

void b2i_places_forget(b2i_state *now)
{
    b2i_free(now->places);
    now->places = NULL;
    now->nplaces = 0;
    now->has_places = false;
}

b2c_status b2i_places_check(b2i_state *now, bool are_offsets, const b2i_survey *survey,
                            b2c_error *err)
{
    bool are_distinct = survey != NULL && survey->is_ordered;
    b2i_entry *places;
    size_t n;
    b2i_places_forget(now);
    now->has_places = are_offsets;
    if (now->entries == NULL || (are_distinct && (survey->nspecial == 0 || !are_offsets))) {
        return B2C_OK;
    }
    B2I_TRY(survey == NULL ? b2i_places_sorted(now, &places, &n, err)
                           : list(now, survey->nspecial, &places, &n, err));
    for (size_t i = 1; i < n && !are_distinct; i++) {
        if (places[i] == places[i - 1]) {
            b2c_status st = fail_shared(now, places[i], err);
            b2i_free(places);
            return st;
        }
    }
    if (!are_offsets) {
        b2i_free(places);
        return B2C_OK;
    }
    now->places = places;
    now->nplaces = n;
    return B2C_OK;
}

b2i_entry b2i_places_last(const b2i_state *now)
{
    if (now->places != NULL) {
        return now->nplaces == 0 ? B2I_ENTRY_SPECIAL : now->places[now->nplaces - 1];
    }
    return now->entries == NULL ? B2I_ENTRY_SPECIAL : now->entries[now->nchunks - 1];
}

uint64_t b2i_places_room(const b2i_state *now, uint64_t nchunk)
{
    b2i_entry e = b2i_state_entry(now, nchunk);
    if (!now->has_places) {
        return UINT64_MAX;
    }
    if (now->places == NULL) {
        return nchunk + 1 < now->nchunks ? now->entries[nchunk + 1] - e : UINT64_MAX;
    }
    size_t lo = 0, hi = now->nplaces; /* the first place behind the chunk's */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (now->places[mid] > e) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo < now->nplaces ? now->places[lo] - e : UINT64_MAX;
}

b2c_status b2i_places_check_total(const b2c_schunk *s, uint64_t total, b2c_error *err)
{
    uint64_t len;
    if (total <= s->put_len || s->store->storage != B2C_STORAGE_FILE) {
        return B2C_OK;
    }
    B2I_TRY(s->store->ops->len(s->store, 0, &len, err));
    if (total - s->put_len > len) {
        return b2i_fail_sizes(err, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "the chunks share bytes: together they are larger than the frame",
                              len + s->put_len, total);
    }
    return B2C_OK;
}
