/*
 * scan.c: chunks of a contiguous frame, found by their headers, one behind the other; and an index
 * that names them, where one is left.
 *
 * Between chunks there may be records, holes and damage: there the search goes on byte by byte.
 * What it may decode in vain is limited by the size of the file, so that no input makes
 * it slow.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "repair.h"

#include <stdlib.h>

enum {
    WINDOW = 1 << 16,
    SECTOR = 512,
    TRAILER_FIRST_READ = 1 << 16,
    TRAILER_FIXED_LEN = 35, /* of a trailer without metalayers */
    LAST_VERSION = 6,       /* of chunks; the first one is 1 */
    CODEC_VERSION = 1,      /* the only one that any codec has had */
    TRAILER_MARKER = 0x94,  /* its first byte */
};

#define WASTE_PER_BYTE ((uint64_t)16)
#define WASTE_FREE     ((uint64_t)256 << 20)

/* The bytes around the present place. */
typedef struct search {
    b2i_scan *scan;
    uint8_t *window;
    uint64_t window_at;
    size_t window_n;
    b2i_scratch scratch;
    b2i_buf index; /* entries of the best index so far */
    uint64_t waste;
    bool is_behind_index; /* what follows is no data */
    bool has_bad;         /* a place of the medium could not be read, as 'bad' says */
    b2c_error bad;
    uint64_t bad_end; /* up to where in the file bad places have been noticed */
} search;

b2c_status b2i_read_most(b2i_io *io, uint64_t at, uint8_t *dst, size_t n, b2c_error *why)
{
    b2c_error why2;
    b2c_status st = io->ops->read(io, at, dst, n, why);
    if (st == B2C_OK) {
        return B2C_OK;
    }
    uint64_t middle = (at + n / 2) / SECTOR * SECTOR;
    middle = middle > at ? middle : (at / SECTOR + 1) * SECTOR;
    if (middle >= at + n) {
        memset(dst, 0, n);
        return st;
    }
    size_t half = (size_t)(middle - at);
    st = b2i_read_most(io, at, dst, half, why);
    b2c_status st2 = b2i_read_most(io, middle, dst + half, n - half, st == B2C_OK ? why : &why2);
    return st == B2C_OK ? st2 : st;
}

/*
 * The same of the frame.  How many bytes are before the first bad place; what has not been told of
 * it will be, by tell_bad().
 */
static size_t get(search *q, uint64_t at, uint8_t *dst, size_t n)
{
    b2c_error why;
    uint64_t offset = q->scan->job->offset + at;
    if (b2i_read_most(q->scan->io, offset, dst, n, &why) == B2C_OK) {
        return n;
    }
    if (why.offset >= q->bad_end) {
        q->bad = why;
        q->has_bad = true;
        q->bad_end = offset + n;
    }
    return (size_t)(why.offset - offset);
}

/* n <= WINDOW bytes of the frame, or NULL when there are fewer. */
static const uint8_t *peek(search *q, uint64_t at, size_t n)
{
    const b2i_scan *sc = q->scan;
    if (at > sc->end || sc->end - at < n) {
        return NULL;
    }
    if (at < q->window_at || at - q->window_at > q->window_n ||
        q->window_n - (size_t)(at - q->window_at) < n) {
        size_t want = sc->end - at < WINDOW ? (size_t)(sc->end - at) : WINDOW;
        (void)get(q, at, q->window, want); /* no chunk begins in a bad place */
        q->window_at = at;
        q->window_n = want;
    }
    return q->window + (at - q->window_at);
}

/* Whether a byte can be the first one of a chunk. */
static bool is_version(uint8_t byte)
{
    return byte >= 1 && byte <= LAST_VERSION;
}

/* Whether a chunk may begin here; its header agrees with itself and its end is inside. */
static bool may_be_chunk(search *q, uint64_t at, b2i_chunk_head *head)
{
    const uint8_t *p = peek(q, at, B2C_HEADER_LEN);
    return p != NULL && is_version(p[0]) && p[1] == CODEC_VERSION &&
           b2i_chunk_head_parse(b2i_span_of(p, B2C_HEADER_LEN), q->scan->job->limits, head, NULL) ==
               B2C_OK &&
           head->nbytes > 0 && head->cbytes >= B2I_MIN_STORED_LEN &&
           head->cbytes <= q->scan->end - at;
}

static bool is_trailer(search *q, uint64_t at)
{
    const uint8_t *p = peek(q, at, 9);
    /* the markers of an array, of one in it with an index of 16 bits, and of a map */
    return p != NULL && p[0] == TRAILER_MARKER && p[2] == 0x93 && p[3] == 0xCD && p[6] == 0xDE;
}

/* Length of the checksum record, with all that belongs to it, behind a chunk; 0: there is none. */
static uint64_t record_len(search *q, uint64_t at, const b2i_chunk_head *head)
{
    const uint8_t *p = peek(q, at, B2I_RECORD_LEN);
    if (p == NULL || memcmp(p, "B2CK", 4) != 0) {
        return 0;
    }
    uint64_t n = (p[4] & B2I_RECORD_FLAG_PARTS) != 0 ? b2i_records_len(head) : B2I_RECORD_LEN;
    return n + ((p[4] & B2I_RECORD_FLAG_REDO) != 0 ? B2I_REDO_LEN : 0);
}

/* Whether what is behind a damaged chunk confirms its size. */
static bool is_followed(search *q, uint64_t at, const b2i_chunk_head *head)
{
    b2i_chunk_head next;
    uint64_t behind = at + head->cbytes;
    return behind == q->scan->end || record_len(q, behind, head) > 0 || is_trailer(q, behind) ||
           may_be_chunk(q, behind, &next);
}

static b2c_status tell(const search *q, int part, uint64_t nlost, const b2c_error *what,
                       b2c_error *err)
{
    return q->scan->silent ? B2C_OK : b2i_note(q->scan->job->to, part, NULL, nlost, what, err);
}

static b2c_status add_entry(search *q, b2i_entry entry, b2c_error *err)
{
    return b2i_buf_append(&q->scan->entries, &entry, sizeof entry) ? B2C_OK : b2i_fail_memory(err);
}

static size_t nentries(const b2i_buf *entries)
{
    return entries->n / sizeof(b2i_entry);
}

static const b2i_entry *entries_of(const b2i_buf *entries)
{
    return (const b2i_entry *)(const void *)entries->p; /* malloc's memory suits any type */
}

/* ---- indexes ---- */

/*
 * Whether every entry is a special one or a chunk that was found; the last of those is the index.
 * One that names more chunks than there are is no use, and may have millions of them.
 */
static bool names_chunks(const b2i_scan *sc, const b2i_entry *entries, uint64_t n)
{
    size_t nfound = nentries(&sc->entries);
    const b2i_entry *found = entries_of(&sc->entries); /* in increasing order */
    if (n - b2i_index_nspecial(entries, n) > nfound) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        bool is_special = b2i_is_special(entries[i]);
        if (is_special ? b2i_entry_kind(entries[i]) == B2C_SPECIAL_NONE
                       : nfound == 0 || bsearch(&entries[i], found, nfound, sizeof *found,
                                                b2i_compare_entries) == NULL) {
            return false;
        }
    }
    return true;
}

/* Keeps the entries of a chunk in memory when it is an index, and not a smaller one. */
static b2c_status try_index(search *q, b2i_span chunk, bool has_trailer, bool *is_index,
                            b2c_error *err)
{
    b2i_index index = { .n = 0 };
    b2i_index_room room = b2i_index_room_of(q->scan->job->limits, UINT64_MAX, q->scan->end);
    *is_index = false;
    b2c_status st = b2i_index_decode(chunk, room, &index, NULL);
    if (st == B2C_E_MEMORY) {
        return b2i_fail_memory(err);
    }
    bool is_listed = index.entries != NULL; /* else the header tells as much */
    if (st == B2C_OK && is_listed && (has_trailer || index.n == nentries(&q->scan->entries)) &&
        names_chunks(q->scan, index.entries, index.n)) {
        *is_index = true;
        if (index.n >= nentries(&q->index)) {
            q->index.n = 0;
            if (!b2i_buf_append(&q->index, index.entries, (size_t)index.n * sizeof(b2i_entry))) {
                st = b2i_fail_memory(err);
            }
        }
    }
    b2i_free(index.entries);
    return st == B2C_E_MEMORY ? st : B2C_OK;
}

/* ---- trailers ---- */

uint64_t b2i_laid_out_len(uint64_t empty_len, const b2i_metas *metas)
{
    enum { OF_ONE = 11 }; /* beside name and content: where it is, and markers */
    uint64_t n = empty_len;
    for (uint32_t i = 0; i < metas->n; i++) {
        n += OF_ONE + strlen(metas->v[i].name) + metas->v[i].n;
    }
    return n;
}

/*
 * Reads the trailer at a place and moves behind it; a damaged one counts as no longer than 1 byte.
 */
static b2c_status take_trailer(search *q, uint64_t *at, b2c_error *err)
{
    b2i_scan *sc = q->scan;
    uint64_t left = sc->end - *at;
    b2i_metas metas = { 0 };
    b2c_status st = B2C_E_CORRUPT;
    for (uint64_t want = TRAILER_FIRST_READ; st != B2C_OK; want *= 16) {
        size_t n = left < want ? (size_t)left : (size_t)want;
        uint8_t *p = b2i_scratch_get(&q->scratch, n);
        b2i_metas_free(&metas);
        if (p == NULL) {
            return b2i_fail_memory(err);
        }
        size_t there = get(q, *at, p, n);
        st = b2i_trailer_parse(b2i_span_of(p, there), sc->job->limits, &metas, NULL);
        q->waste += n;
        if (n == left || there < n || q->waste > WASTE_FREE) {
            break;
        }
    }
    const uint64_t len = b2i_laid_out_len(TRAILER_FIXED_LEN, &metas);
    *at += st == B2C_OK && len <= left ? len : 1;
    if (st == B2C_OK || metas.n > sc->vlmetas.n) {
        b2i_metas_free(&sc->vlmetas);
        sc->vlmetas = metas;
        return B2C_OK;
    }
    b2i_metas_free(&metas);
    return st == B2C_E_MEMORY ? b2i_fail_memory(err) : B2C_OK;
}

/* ---- the walk ---- */

/* A sound chunk: data, or an index, which is what a trailer follows. */
static b2c_status take_chunk(search *q, uint64_t at, const b2i_chunk_head *head, b2i_span chunk,
                             b2c_error *err)
{
    bool has_trailer = is_trailer(q, at + head->cbytes), is_index = false;
    B2I_TRY(try_index(q, chunk, has_trailer, &is_index, err));
    q->is_behind_index = q->is_behind_index || is_index || has_trailer;
    if (q->is_behind_index) {
        return B2C_OK;
    }
    uint64_t end = at + head->cbytes;
    end += record_len(q, end, head);
    const b2i_found found = { at - q->scan->header_len, end - q->scan->header_len };
    if (!b2i_buf_append(&q->scan->sound, &found, sizeof found)) {
        return b2i_fail_memory(err);
    }
    return add_entry(q, found.at, err);
}

/* Tells of a chunk that is there but cannot be used. */
static b2c_status lose_chunk(search *q, uint64_t end, const b2c_error *what, b2c_error *err)
{
    q->is_behind_index = q->is_behind_index || is_trailer(q, end); /* it was the index */
    if (q->is_behind_index) {
        return B2C_OK;
    }
    b2c_error e = *what;
    e.chunk = (int64_t)nentries(&q->scan->entries);
    B2I_TRY(add_entry(q, B2I_ENTRY_LOST, err));
    return tell(q, B2C_PART_CHUNK, 1, &e, err);
}

/* Moves on to the next byte with which a chunk or trailer might begin, or to the end. */
static void skip(search *q, uint64_t *at)
{
    for (*at += 1; peek(q, *at, 1) != NULL;) {
        const uint8_t *p = q->window + (*at - q->window_at), *end = q->window + q->window_n;
        for (; p < end; p++) {
            if (*p == TRAILER_MARKER || is_version(*p)) {
                *at = q->window_at + (uint64_t)(p - q->window);
                return;
            }
        }
        *at = q->window_at + q->window_n;
    }
    *at = q->scan->end;
}

/*
 * A chunk should be at a place where none can be used: tells of one (or of an index) that is cut.
 */
static b2c_status note_cut(search *q, uint64_t at, b2c_error *err)
{
    b2i_chunk_head head;
    const uint8_t *p = peek(q, at, B2C_HEADER_LEN);
    uint64_t left = q->scan->end - at;
    if (p == NULL || q->is_behind_index || !is_version(p[0]) || p[1] != CODEC_VERSION ||
        b2i_chunk_head_parse(b2i_span_of(p, B2C_HEADER_LEN), NULL, &head, NULL) != B2C_OK ||
        head.cbytes <= left) {
        return B2C_OK;
    }
    b2c_error e;
    (void)b2i_fail_sizes(&e, B2C_E_TRUNCATED, q->scan->job->offset + at,
                         "a chunk, or the index, is cut short", head.cbytes, left);
    return tell(q, B2C_PART_FRAME, 0, &e, err);
}

/* How many bytes were decoded before a chunk failed, or more. */
static uint64_t decoded_before(const b2i_chunk_head *head, const b2c_error *why)
{
    uint64_t n = why->block < 0 ? 0 : ((uint64_t)why->block + 1) * head->blocksize;
    bool is_odd =
        head->maybe_unsplit || head->blocksize % head->typesize != 0; /* read in two ways */
    return is_odd || head->has_vlblocks || n > head->nbytes ? head->nbytes : n;
}

/* Looks at the bytes at *at and moves on; 'expected': a chunk should begin there. */
static b2c_status step(search *q, uint64_t *at, bool *expected, b2c_error *err)
{
    b2i_scan *sc = q->scan;
    b2i_chunk_head head;
    b2i_span chunk;
    b2c_error why = { 0 };
    if (is_trailer(q, *at)) {
        *expected = false;
        return take_trailer(q, at, err);
    }
    if (!may_be_chunk(q, *at, &head)) {
        B2I_TRY(*expected ? note_cut(q, *at, err) : B2C_OK);
        *expected = false;
        skip(q, at);
        return B2C_OK;
    }
    b2c_status st = b2i_sound_chunk(sc->of, *at - sc->header_len, sc->job->ctx, &q->scratch, &head,
                                    &chunk, &why);
    if (st == B2C_OK || (b2i_is_foreign(st) && *expected && is_followed(q, *at, &head))) {
        B2I_TRY(take_chunk(q, *at, &head, chunk, err));
    } else if (st == B2C_E_MEMORY) {
        return b2i_fail_memory(err);
    } else {
        q->waste += head.cbytes + decoded_before(&head, &why);
        if (!*expected || !may_be_chunk(q, *at, &head) || !is_followed(q, *at, &head)) {
            *expected = false;
            skip(q, at);
            return B2C_OK;
        }
        B2I_TRY(lose_chunk(q, *at + head.cbytes, &why, err));
    }
    *expected = true;
    *at += head.cbytes;
    *at += record_len(q, *at, &head);
    return B2C_OK;
}

/* Tells of a place that could not be read. */
static b2c_status tell_bad(search *q, b2c_error *err)
{
    if (!q->has_bad) {
        return B2C_OK;
    }
    q->has_bad = false;
    return tell(q, B2C_PART_FRAME, 0, &q->bad, err);
}

static b2c_status walk(search *q, b2c_error *err)
{
    b2i_scan *sc = q->scan;
    uint64_t len = sc->end - sc->start;
    uint64_t allowed = WASTE_FREE + (len < UINT64_MAX / 32 ? len * WASTE_PER_BYTE : len);
    bool expected = true;
    for (uint64_t at = sc->start; at < sc->end;) {
        if (q->waste > allowed) {
            b2c_error e;
            (void)b2i_fail(&e, B2C_E_LIMIT, sc->job->offset + at,
                           "the search for chunks was given up here");
            return tell(q, B2C_PART_FRAME, 0, &e, err);
        }
        q->is_behind_index = q->is_behind_index || at >= sc->data_end;
        B2I_TRY(step(q, &at, &expected, err));
        B2I_TRY(tell_bad(q, err));
    }
    return B2C_OK;
}

b2c_status b2i_scan_run(b2i_scan *scan, b2c_error *err)
{
    search q = { .scan = scan, .window = b2i_malloc(WINDOW) };
    if (q.window == NULL) {
        return b2i_fail_memory(err);
    }
    b2c_status st = walk(&q, err);
    if (st == B2C_OK && q.index.n > 0) {
        b2i_buf_free(&scan->entries);
        scan->entries = q.index;
        scan->has_index = true;
        q.index = (b2i_buf){ 0 };
    }
    b2i_buf_free(&q.index);
    b2i_scratch_free(&q.scratch);
    b2i_free(q.window);
    return st;
}

/* ---- where the header ends ---- */

/* The place of a chunk in the payload, when its record tells one; else 0, as of the first chunk. */
static uint64_t place_of(search *q, uint64_t at, const b2i_chunk_head *head)
{
    enum { MAX_DAMAGED = 1 << 16 }; /* bytes before it, so that tags are not guessed */
    const uint8_t *p = peek(q, at + head->cbytes, B2I_RECORD_LEN);
    uint64_t n = p == NULL || at < B2I_FRAME_FIXED_LEN ? 0 : at - B2I_FRAME_FIXED_LEN + 1;
    n = n < MAX_DAMAGED ? n : MAX_DAMAGED;
    for (uint64_t place = 0; place < n; place++) {
        if (b2i_record_extent(b2i_span_of(p, B2I_RECORD_LEN), head, place) > 0) {
            return place;
        }
    }
    return 0;
}

b2c_status b2i_scan_header_len(b2i_scan *scan, uint64_t *header_len, b2c_error *err)
{
    search q = { .scan = scan, .window = b2i_malloc(WINDOW) };
    b2i_chunk_head head;
    uint64_t at = scan->start;
    if (q.window == NULL) {
        return b2i_fail_memory(err);
    }
    bool is_found = false;
    while (!is_found && at < scan->end && q.waste <= WASTE_FREE) {
        if (may_be_chunk(&q, at, &head)) {
            q.waste += 2 * (uint64_t)WINDOW; /* to look behind it, and to come back */
            is_found = is_followed(&q, at, &head);
        }
        if (!is_found) {
            skip(&q, &at);
        }
    }
    *header_len = is_found ? at - place_of(&q, at, &head) : 0;
    b2i_free(q.window);
    return B2C_OK;
}

void b2i_scan_free(b2i_scan *scan)
{
    b2i_buf_free(&scan->entries);
    b2i_buf_free(&scan->sound);
    b2i_metas_free(&scan->vlmetas);
}

/* ---- entries that were damaged ---- */

static const b2i_found *sound_of(const b2i_scan *scan)
{
    return (const b2i_found *)(const void *)scan->sound.p;
}

/*
 * Whether an entry cannot be right: it leads out of the file, or into the middle of a sound chunk,
 * or stands for special values in another way than all writers put it.
 */
static bool leads_nowhere(const b2i_scan *scan, b2i_entry e)
{
    const b2i_found *found = sound_of(scan);
    size_t lo = 0, hi = scan->sound.n / sizeof *found; /* the first chunk that ends behind e */
    if (b2i_is_special(e)) {
        return !b2i_is_plain_special(e);
    }
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (found[mid].end > e) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    bool is_inside = lo < scan->sound.n / sizeof *found && found[lo].at < e;
    return is_inside || e >= scan->end - scan->header_len;
}

/* The sound chunks that no entry names. */
static b2c_status list_unnamed(const b2i_scan *scan, const b2i_state *now, b2i_buf *out,
                               b2c_error *err)
{
    const b2i_found *found = sound_of(scan);
    b2i_entry *places;
    size_t n;
    bool fits = true;
    B2I_TRY(b2i_places_sorted(now, &places, &n, err));
    for (size_t i = 0; fits && i < scan->sound.n / sizeof *found; i++) {
        if (bsearch(&found[i].at, places, n, sizeof *places, b2i_compare_entries) == NULL) {
            fits = b2i_buf_append(out, &found[i].at, sizeof found[i].at);
        }
    }
    b2i_free(places);
    return fits ? B2C_OK : b2i_fail_memory(err);
}

b2c_status b2i_scan_mend(const b2i_scan *scan, b2i_state *now, b2c_error *err)
{
    b2i_buf unnamed = { 0 };
    size_t n = (size_t)now->nchunks, nwrong = 0, next = 0;
    if (now->entries == NULL) {
        return B2C_OK;
    }
    b2c_status st = list_unnamed(scan, now, &unnamed, err);
    for (size_t i = 0; i < n; i++) {
        nwrong += leads_nowhere(scan, now->entries[i]);
    }
    if (st == B2C_OK && nwrong == nentries(&unnamed)) {
        for (size_t i = 0; i < n; i++) {
            if (leads_nowhere(scan, now->entries[i])) {
                now->entries[i] = entries_of(&unnamed)[next++];
            }
        }
    }
    b2i_buf_free(&unnamed);
    return st;
}
