/*
 * places.c: where the chunks of an opened frame are: each at a place of its own, and none reaches
 * into the next one, so that all of them together are no larger than the frame.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "schunk.h"
#include "checked.h"

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
            if (!b2i_is_special(entries[i])) {
                places[nplaces++] = entries[i];
            }
        }
    }
    return nplaces;
}

/* The places of the entries, n of them, in their order; to be freed. */
static b2c_status list(const b2i_state *now, size_t n, b2i_entry **places, b2c_error *err)
{
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
    return B2C_OK;
}

b2c_status b2i_places_sorted(const b2i_state *now, b2i_entry **places, size_t *nplaces,
                             b2c_error *err)
{
    uint64_t nlisted = now->entries == NULL ? 0 : now->nchunks; /* else: special ones */
    *nplaces = (size_t)(nlisted - b2i_index_nspecial(now->entries, nlisted));
    return list(now, *nplaces, places, err);
}

/* ---- that each chunk is at a place of its own ---- */

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

/* The lowest of n places in order that is there twice; B2I_ENTRY_SPECIAL: none. */
static b2i_entry find_twice(const b2i_entry *places, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (places[i] == places[i - 1]) {
            return places[i];
        }
    }
    return B2I_ENTRY_SPECIAL;
}

/*
 * Marks say that there is an entry, and that there is a second one, at the places that they stand
 * for.  There are so many per entry that few have a second one, and so few that they take less
 * memory than the entries do.
 */
enum { MARKS_PER_ENTRY = 16, MARKS_PER_WORD = 32 };

typedef struct marks {
    uint64_t *words; /* two bits each: the lower ones of all that a word has, then the upper ones */
    size_t nwords;
    uint64_t factor; /* of a place, whose mark is the product without the lower 'shift' bits */
    unsigned shift;
} marks;

/* Marks for stretches of places: chunks of about the same size have one each. */
static bool marks_new(marks *m, b2i_entry last, size_t nplaces)
{
    uint64_t n = last / MARKS_PER_ENTRY;
    size_t nbytes;
    m->shift = 0;
    while (n >> m->shift >= nplaces) {
        m->shift++;
    }
    m->factor = 1;
    bool fits = b2i_u64_to_size((last >> m->shift) / MARKS_PER_WORD + 1, &m->nwords) &&
                b2i_mul_size(m->nwords, sizeof *m->words, &nbytes);
    m->words = fits ? b2i_calloc(nbytes) : NULL;
    return m->words != NULL;
}

/* The same marks for places all over the frame, as when many small chunks are side by side. */
static void marks_scatter(marks *m)
{
    memset(m->words, 0, m->nwords * sizeof *m->words);
    m->factor = 0x9e3779b97f4a7c15u; /* 2^64 by the golden ratio */
    m->shift = 64;
    for (size_t n = m->nwords * MARKS_PER_WORD; n > 1; n /= 2) {
        m->shift--;
    }
}

/* Marks the places of n entries; returns how many were not the first ones with their marks. */
static size_t marks_set(const marks *m, const b2i_entry *entries, size_t n)
{
    size_t nlater = 0;
    for (size_t i = 0; i < n; i++) {
        if (!b2i_is_special(entries[i])) {
            uint64_t mark = entries[i] * m->factor >> m->shift, bit = mark % MARKS_PER_WORD;
            uint64_t *word = &m->words[mark / MARKS_PER_WORD], had = *word >> bit & 1;
            *word |= (had << MARKS_PER_WORD | 1) << bit;
            nlater += (size_t)had;
        }
    }
    return nlater;
}

/* Copies those of n entries that share a mark. */
static size_t marks_shared(const marks *m, const b2i_entry *entries, size_t n, b2i_entry *out)
{
    size_t nout = 0;
    for (size_t i = 0; i < n; i++) {
        if (!b2i_is_special(entries[i])) {
            uint64_t mark = entries[i] * m->factor >> m->shift;
            uint64_t seconds = m->words[mark / MARKS_PER_WORD] >> MARKS_PER_WORD;
            if ((seconds >> mark % MARKS_PER_WORD & 1) != 0) {
                out[nout++] = entries[i];
            }
        }
    }
    return nout;
}

/* The lowest place that two of the entries name, by all places in order. */
static b2c_status find_shared_sorting(const b2i_state *now, size_t nplaces, b2i_entry *shared,
                                      b2c_error *err)
{
    b2i_entry *places;
    B2I_TRY(list(now, nplaces, &places, err));
    *shared = find_twice(places, nplaces);
    b2i_free(places);
    return B2C_OK;
}

/* The same by those that share a mark, of which 'nlater' > 0 were not the first with it. */
static b2c_status find_shared_marked(const b2i_state *now, const marks *m, size_t nlater,
                                     b2i_entry *shared, b2c_error *err)
{
    size_t max = 2 * nlater; /* at most as many were the first ones */
    b2i_entry *v = b2i_malloc(2 * max * sizeof *v);
    if (v == NULL) {
        return b2i_fail_memory(err);
    }
    size_t n = marks_shared(m, now->entries, (size_t)now->nchunks, v);
    sort_by_digits(v, v + max, n);
    *shared = find_twice(v, n);
    b2i_free(v);
    return B2C_OK;
}

/* The lowest place that two of the entries name; B2I_ENTRY_SPECIAL: there is none. */
static b2c_status find_shared(const b2i_state *now, size_t nplaces, b2i_entry last,
                              b2i_entry *shared, b2c_error *err)
{
    marks m;
    const size_t n = (size_t)now->nchunks, few = nplaces / 4; /* take no more memory than a list */
    if (!marks_new(&m, last, nplaces)) {
        return b2i_fail_memory(err);
    }
    size_t nlater = marks_set(&m, now->entries, n);
    if (nlater > few && m.shift > 0) {
        marks_scatter(&m);
        nlater = marks_set(&m, now->entries, n);
    }
    b2c_status st = B2C_OK;
    *shared = B2I_ENTRY_SPECIAL;
    if (nlater > 0 && nlater <= few) {
        st = find_shared_marked(now, &m, nlater, shared, err);
    }
    b2i_free(m.words);
    return nlater > few ? find_shared_sorting(now, nplaces, shared, err) : st;
}

void b2i_places_forget(b2i_state *now)
{
    if (now->places != NULL) {
        b2i_free(now->places->sorted);
        b2i_free(now->places);
    }
    now->places = NULL;
    now->has_places = false;
}

b2c_status b2i_places_check(b2i_state *now, bool are_offsets, const b2i_survey *survey,
                            b2c_error *err)
{
    b2i_places_forget(now);
    now->has_places = are_offsets;
    if (now->entries == NULL) {
        return B2C_OK;
    }
    b2i_survey found =
        survey != NULL ? *survey : b2i_index_survey(now->entries, now->nchunks, B2I_ENTRY_SPECIAL);
    size_t nplaces = (size_t)(now->nchunks - found.nspecial);
    if (!found.is_ordered) {
        b2i_entry shared;
        B2I_TRY(find_shared(now, nplaces, found.last, &shared, err));
        if (!b2i_is_special(shared)) {
            return fail_shared(now, shared, err);
        }
    }
    if (are_offsets && (!found.is_ordered || found.nspecial > 0)) {
        now->places = b2i_calloc(sizeof *now->places);
        if (now->places == NULL) {
            return b2i_fail_memory(err);
        }
        now->places->n = nplaces;
        now->places->is_ordered = found.is_ordered;
    }
    return B2C_OK;
}

/* ---- how far a chunk reaches ---- */

b2i_entry b2i_places_last(const b2i_state *now)
{
    b2i_entry last = 0; /* one more than it */
    uint64_t n = now->entries == NULL ? 0 : now->nchunks;
    if (n > 0 && now->has_places && now->places == NULL) {
        return now->entries[n - 1];
    }
    for (uint64_t i = 0; i < n; i++) {
        b2i_entry e = now->entries[i];
        last = !b2i_is_special(e) && e >= last ? e + 1 : last;
    }
    return last == 0 ? B2I_ENTRY_SPECIAL : last - 1;
}

/* From place e to another one, less one; the top bit is set if that is special or not behind e. */
static uint64_t room_before(b2i_entry other, b2i_entry e)
{
    return (other - e - 1) | (other & B2I_ENTRY_SPECIAL);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From place e to the next one of n entries, of which several are looked at in a step. */
static uint64_t look_for_room(const b2i_entry *entries, uint64_t n, b2i_entry e)
{
    uint64_t a = UINT64_MAX, b = a, c = a, d = a, i = 0;
    for (; n - i >= 4; i += 4) {
        a = smaller(room_before(entries[i], e), a);
        b = smaller(room_before(entries[i + 1], e), b);
        c = smaller(room_before(entries[i + 2], e), c);
        d = smaller(room_before(entries[i + 3], e), d);
    }
    for (; i < n; i++) {
        a = smaller(room_before(entries[i], e), a);
    }
    uint64_t least = smaller(smaller(a, b), smaller(c, d));
    return (least & B2I_ENTRY_SPECIAL) == 0 ? least + 1 : UINT64_MAX;
}

/* From place e to the next one of n in order. */
static uint64_t find_room(const b2i_entry *places, size_t n, b2i_entry e)
{
    size_t lo = 0, hi = n; /* the first place behind e */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (places[mid] > e) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo < n ? places[lo] - e : UINT64_MAX;
}

/*
 * The places in order; NULL: they have not been needed often enough, or there is no memory.  Of
 * several threads that sort them at a time one gives what all use from then on.
 */
static const b2i_entry *sorted_places(const b2i_state *now)
{
    enum { MANY_LOOKS = 16 }; /* they take as long as sorting */
    b2i_places *p = now->places;
    b2i_entry *sorted = __atomic_load_n(&p->sorted, __ATOMIC_ACQUIRE), *other = NULL;
    if (sorted != NULL || __atomic_fetch_add(&p->nlooks, 1, __ATOMIC_RELAXED) < MANY_LOOKS ||
        list(now, p->n, &sorted, NULL) != B2C_OK) {
        return sorted;
    }
    if (!__atomic_compare_exchange_n(&p->sorted, &other, sorted, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        b2i_free(sorted);
        sorted = other;
    }
    return sorted;
}

uint64_t b2i_places_room(const b2i_state *now, uint64_t nchunk)
{
    enum { NEAR = 64 };
    b2i_entry e = b2i_state_entry(now, nchunk);
    if (!now->has_places) {
        return UINT64_MAX;
    }
    if (now->places == NULL) {
        return nchunk + 1 < now->nchunks ? now->entries[nchunk + 1] - e : UINT64_MAX;
    }
    uint64_t end = nchunk + 1; /* of those behind it that are looked at, if they are in order */
    for (; now->places->is_ordered && end < now->nchunks && end - nchunk <= NEAR; end++) {
        if (!b2i_is_special(now->entries[end])) {
            return now->entries[end] - e;
        }
    }
    const b2i_entry *sorted = sorted_places(now);
    return sorted != NULL ? find_room(sorted, now->places->n, e)
                          : look_for_room(now->entries, now->nchunks, e);
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
