/*
 * repair.c: a new frame of what a damaged one still holds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "repair.h"
#include "checked.h"
#include "nd.h"
#include "plugin.h"

#include <stdio.h>

enum { PROGRESS_EVERY = 4096 }; /* special chunks take no time */

/* What the new frame is made of. */
typedef struct repair_job {
    const b2c_repair_params *params;
    b2i_listener to;
    b2c_ctx *ctx;
    b2i_salvage found;
    uint64_t nchunks; /* of the new frame, when nothing is left out */
    uint64_t size;    /* of a chunk; 0: they vary */
    uint64_t last;    /* of the last one */
    bool is_array;
    b2c_schunk *dst;
    b2i_scratch scratch;
    b2c_repair_result result;
} repair_job;

b2c_status b2i_note(const b2i_listener *to, int part, const char *name, uint64_t nchunks,
                    const b2c_error *what, b2c_error *err)
{
    b2c_repair_note note = { .part = part, .name = name, .nchunks = nchunks, .error = what };
    int why = to->note == NULL ? 0 : to->note(to->handle, &note);
    return why == 0 ? B2C_OK : b2i_fail_callback(err, NULL, why, "the note function failed");
}

static b2c_status note(repair_job *j, int part, const char *name, b2c_status status,
                       const char *what, b2c_error *err)
{
    b2c_error e;
    (void)b2i_fail(&e, status, B2C_NO_OFFSET, what);
    return b2i_note(&j->to, part, name, 0, &e, err);
}

static b2c_status progress(const repair_job *j, uint64_t done, b2c_error *err)
{
    const b2c_repair_params *p = j->params;
    int why = p->progress == NULL ? 0 : p->progress(p->handle, done, j->nchunks);
    return why == 0 ? B2C_OK : b2i_fail_callback(err, NULL, why, "the progress function failed");
}

/* ---- what can be kept of the metadata ---- */

/* Removes vlmetalayers that do not decode. */
static b2c_status check_vlmetas(repair_job *j, b2c_error *err)
{
    b2i_metas *metas = &j->found.s->now.vlmetas;
    b2c_error why;
    for (uint32_t i = 0; i < metas->n;) {
        b2c_status st = b2i_sound_bytes(b2i_meta_span(&metas->v[i]), j->ctx, &why);
        if (st == B2C_E_MEMORY) {
            return b2i_fail_memory(err);
        }
        if (st == B2C_OK || b2i_is_foreign(st)) {
            i++;
            continue;
        }
        why.offset = B2C_NO_OFFSET; /* it counts from the chunk in the metalayer */
        B2I_TRY(b2i_note(&j->to, B2C_PART_VLMETA, metas->v[i].name, 0, &why, err));
        b2i_metas_remove(metas, &metas->v[i]);
    }
    return B2C_OK;
}

/* Removes fixed metalayers of a name that came before. */
static b2c_status check_metas(repair_job *j, b2c_error *err)
{
    b2i_metas *metas = &j->found.s->now.metas;
    for (uint32_t i = 0; i < metas->n;) {
        if (b2i_metas_find(metas, metas->v[i].name) == &metas->v[i]) {
            i++;
            continue;
        }
        B2I_TRY(note(j, B2C_PART_META, metas->v[i].name, B2C_E_CORRUPT,
                     "there are several metalayers of this name", err));
        b2i_metas_remove(metas, &metas->v[i]);
    }
    return B2C_OK;
}

/* The decoded size that most of the chunks have, or 0. */
static uint64_t usual_size(repair_job *j)
{
    const b2c_schunk *s = j->found.s;
    uint64_t size = 0, votes = 0;
    for (uint64_t i = 0; i < s->now.nchunks; i++) {
        b2i_chunk_head head;
        b2i_entry e = b2i_state_entry(&s->now, i);
        if (b2i_is_special(e) || !b2i_named_head(s->store, e, &s->limits, &j->scratch, &head) ||
            head.nbytes == 0) {
            continue;
        }
        if (votes == 0) { /* the vote of Boyer and Moore: a majority wins in one pass */
            size = head.nbytes;
        }
        votes = head.nbytes == size ? votes + 1 : votes - 1;
    }
    return size;
}

/* Whether the limits allow so many chunks of a size that only the damaged frame vouches for. */
static b2c_status check_sizes(const repair_job *j, uint64_t nchunks, uint64_t size, b2c_error *why)
{
    const b2c_limits *limits = &j->ctx->limits;
    if (size > limits->max_chunk_nbytes) {
        return b2i_fail_limit(why, B2C_NO_OFFSET, "max_chunk_nbytes",
                              "each chunk would decode to more than the limit",
                              limits->max_chunk_nbytes, size);
    }
    if (size > 0 && nchunks > limits->max_nbytes / size) {
        return b2i_fail_limit(why, B2C_NO_OFFSET, "max_nbytes",
                              "the chunks would decode to more than the limit", limits->max_nbytes,
                              b2i_mul_most(nchunks, size));
    }
    return B2C_OK;
}

/* The array's chunks, when its metalayer makes sense; else 'why' not. */
static b2c_status read_grid(repair_job *j, const b2i_meta *meta, b2i_grid *grid, b2c_error *why)
{
    const b2i_state *now = &j->found.s->now;
    b2c_nd nd;
    b2i_span dtype;
    B2I_TRY(b2i_nd_meta_read(meta, &j->ctx->limits, &nd, &dtype, why));
    nd.itemsize = 1;
    B2I_TRY(b2i_grid_make(&nd, grid, why));
    uint64_t items = grid->chunk_total > 0 ? grid->chunk_nbytes : 0; /* as b2i_nd_from_schunk() */
    nd.itemsize = now->cparams.typesize;
    if (items > 0 && j->size > 0 && j->size % items == 0 && j->size / items <= B2C_MAX_TYPESIZE) {
        nd.itemsize = (uint32_t)(j->size / items);
    }
    B2I_TRY(b2i_grid_make(&nd, grid, why));
    /* Without an index nothing but the shape speaks for so many chunks. */
    b2i_index_room room = b2i_index_room_of(&j->found.s->limits, 0, 0);
    uint64_t max = j->found.has_index ? room.max_uniform : room.max;
    if (grid->chunk_total > max) {
        return b2i_fail_limit(why, B2C_NO_OFFSET, "max_nchunks",
                              "the array has more chunks than the limit", max, grid->chunk_total);
    }
    if (j->found.has_index) {
        B2I_TRY(b2i_grid_check_count(grid, now->nchunks, why));
    }
    return check_sizes(j, grid->chunk_total, grid->chunk_nbytes, why);
}

/* Gives the array a dtype that says no more than the size of its items. */
static b2c_status forget_dtype(const b2i_grid *grid, b2i_meta *meta, b2c_error *err)
{
    uint8_t bytes[512]; /* 16 dimensions take 310 */
    char dtype[16];
    b2c_nd nd;
    size_t at, len;
    B2I_TRY(b2i_nd_meta_decode(b2i_meta_span(meta), &nd, &at, &len, err));
    int n = snprintf(dtype, sizeof dtype, "|S%lu", (unsigned long)grid->itemsize);
    B2I_TRY(b2i_nd_meta_encode(&nd, b2i_span_of(dtype, (size_t)n), bytes, sizeof bytes, &len, err));
    uint8_t *p = b2i_malloc(len);
    if (p == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(p, bytes, len);
    b2i_free(meta->p);
    meta->p = p;
    meta->n = len;
    return B2C_OK;
}

static b2c_status check_dtype(repair_job *j, const b2i_grid *grid, b2i_meta *meta, b2c_error *err)
{
    const b2c_repair_params *p = j->params;
    int is_known = 1, why = p->dtype == NULL ? 0 : p->dtype(p->handle, j->found.s, &is_known);
    if (why != 0) {
        return b2i_fail_callback(err, NULL, why, "the dtype function failed");
    }
    return is_known ? B2C_OK : forget_dtype(grid, meta, err);
}

/* Of a frame damaged elsewhere: sizes that vary, one of which may follow from the others. */
static b2c_status load_sizes(repair_job *j, b2c_error *err)
{
    b2i_state *now = &j->found.s->now;
    if (j->found.has_sizes || !j->found.has_index || now->chunksize != B2I_CHUNKSIZE_VAR ||
        now->entries == NULL || now->nbytes > j->ctx->limits.max_nbytes) {
        return B2C_OK;
    }
    B2I_TRY(b2i_state_make_ends(now, err));
    j->found.has_sizes = b2i_schunk_load_sizes(j->found.s, NULL) == B2C_OK;
    return B2C_OK;
}

/* Number and size of an array's chunks; a metalayer that makes no sense is removed. */
static b2c_status plan_array(repair_job *j, b2i_meta *meta, b2c_error *err)
{
    b2i_grid grid;
    b2c_error why;
    if (read_grid(j, meta, &grid, &why) != B2C_OK) {
        B2I_TRY(b2i_note(&j->to, B2C_PART_ARRAY, meta->name, 0, &why, err));
        b2i_metas_remove(&j->found.s->now.metas, meta);
        return B2C_OK;
    }
    j->is_array = true;
    j->nchunks = grid.chunk_total;
    j->size = grid.chunk_nbytes;
    return check_dtype(j, &grid, meta, err);
}

/* What the last chunk decodes to: less than the others, where the size of all of them says so. */
static uint64_t last_size(const repair_job *j)
{
    if (j->is_array || j->size == 0 || j->nchunks == 0) {
        return j->size;
    }
    uint64_t nbytes = j->found.s->now.nbytes, others = (j->nchunks - 1) * j->size;
    return nbytes > others && nbytes - others < j->size ? nbytes - others : j->size;
}

/* Number and size of the new chunks. */
static b2c_status plan(repair_job *j, b2c_error *err)
{
    const b2i_state *now = &j->found.s->now;
    b2c_error why;
    B2I_TRY(load_sizes(j, err));
    j->nchunks = now->nchunks;
    j->size = now->chunksize > 0 ? (uint64_t)now->chunksize : 0;
    if (!j->found.has_sizes && now->chunksize != B2I_CHUNKSIZE_VAR) {
        uint64_t usual = usual_size(j);
        j->size = usual > 0 ? usual : j->size;
    }
    b2i_meta *meta = b2i_nd_meta_find(j->found.s);
    if (meta != NULL) {
        B2I_TRY(plan_array(j, meta, err));
    }
    if (!j->is_array && check_sizes(j, j->nchunks, j->size, &why) != B2C_OK) {
        B2I_TRY(b2i_note(&j->to, B2C_PART_FRAME, NULL, 0, &why, err));
        bool is_only = j->found.has_sizes && j->nchunks == 1 && now->nbytes < j->size &&
                       check_sizes(j, 1, now->nbytes, &why) == B2C_OK;
        j->size = is_only ? now->nbytes : 0; /* sound chunks tell their own */
    }
    j->last = last_size(j);
    return B2C_OK;
}

/* ---- chunks ---- */

/* What chunk i decodes to, if anything tells: where sizes vary, those of all chunks together. */
static uint64_t size_of(const repair_job *j, uint64_t i)
{
    const b2i_state *now = &j->found.s->now;
    if (j->found.has_sizes && j->size == 0 && now->ends != NULL && i < now->nchunks) {
        return b2i_schunk_chunk_nbytes(j->found.s, i);
    }
    return i + 1 == j->nchunks ? j->last : j->size;
}

/* Appends a chunk of a kind of special values. */
static b2c_status append_special(repair_job *j, uint64_t nbytes, uint8_t kind, b2c_error *err)
{
    uint8_t chunk[B2C_HEADER_LEN];
    size_t len;
    b2c_cparams cp =
        b2i_special_cparams(kind == B2C_SPECIAL_NAN ? j->dst->now.cparams.typesize : 1);
    B2I_TRY(b2i_special_encode(&cp, kind, nbytes, NULL, chunk, sizeof chunk, &len, err));
    return b2i_schunk_append_chunk(j->dst, b2i_span_of(chunk, len), err);
}

/* A chunk is gone: zeros take its place, or it is left out when its size is not known, either. */
static b2c_status lose(repair_job *j, uint64_t i, const b2c_error *what, b2c_error *err)
{
    j->result.nlost++;
    if (what != NULL) {
        b2c_error e = *what;
        e.chunk = (int64_t)i;
        B2I_TRY(b2i_note(&j->to, B2C_PART_CHUNK, NULL, 1, &e, err));
    }
    uint64_t nbytes = size_of(j, i);
    if (nbytes == 0 || (j->params->drop_lost && !j->is_array)) {
        return B2C_OK;
    }
    return append_special(j, nbytes, B2C_SPECIAL_ZERO, err);
}

/* Whether a chunk that decodes can be number i of the new frame. */
static b2c_status check_place(const repair_job *j, uint64_t i, const b2i_chunk_head *head,
                              b2c_error *why)
{
    uint64_t room = b2i_places_room(&j->found.s->now, i);
    if (j->is_array && head->nbytes != j->size) {
        return b2i_fail_sizes(why, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "the chunk's decoded size is not that of the array's chunks", j->size,
                              head->nbytes);
    }
    if (head->cbytes > room) {
        return b2i_fail_sizes(why, B2C_E_CORRUPT, B2C_NO_OFFSET,
                              "the chunk reaches into the next one", room, head->cbytes);
    }
    return B2C_OK;
}

/* Copies the chunk at an entry. */
static b2c_status keep(repair_job *j, uint64_t i, b2i_entry entry, b2c_error *err)
{
    b2i_chunk_head head;
    b2i_span chunk;
    b2c_error why;
    b2c_status st = b2i_sound_chunk(j->found.s, entry, j->ctx, &j->scratch, &head, &chunk, &why);
    if (st == B2C_E_MEMORY) {
        return b2i_fail_memory(err);
    }
    if (b2i_is_foreign(st)) {
        why.chunk = (int64_t)i;
        B2I_TRY(b2i_note(&j->to, B2C_PART_CHUNK, NULL, 0, &why, err));
        st = B2C_OK;
    }
    st = st == B2C_OK ? check_place(j, i, &head, &why) : st;
    if (st != B2C_OK) {
        return lose(j, i, &why, err);
    }
    uint64_t done = j->dst->now.nbytes, max = j->ctx->limits.max_nbytes;
    if (done > max || head.nbytes > max - done) {
        const uint64_t least = b2i_add_most(done, head.nbytes), told = j->found.header_nbytes;
        return b2i_fail_limit(err, B2C_NO_OFFSET, "max_nbytes",
                              "the sound chunks decode to more than the limit", max,
                              told > least ? told : least); /* what would be enough */
    }
    j->result.nkept++;
    return b2i_schunk_append_chunk(j->dst, chunk, err);
}

static bool is_sound_special(const repair_job *j, uint64_t i, uint8_t kind)
{
    uint64_t typesize = j->dst->now.cparams.typesize, nbytes = size_of(j, i);
    bool is_nan = kind == B2C_SPECIAL_NAN;
    return kind != B2C_SPECIAL_NONE && nbytes > 0 &&
           (!is_nan || ((typesize == 4 || typesize == 8) && nbytes % typesize == 0));
}

/* A special chunk of the index. */
static b2c_status keep_special(repair_job *j, uint64_t i, uint8_t kind, b2c_error *err)
{
    if (!is_sound_special(j, i, kind)) {
        b2c_error why;
        (void)b2i_fail(&why, B2C_E_CORRUPT, B2C_NO_OFFSET,
                       "a special chunk that the frame's sizes do not allow");
        return lose(j, i, &why, err);
    }
    j->result.nkept++;
    return append_special(j, size_of(j, i), kind, err);
}

static b2i_entry entry_of(const repair_job *j, uint64_t i)
{
    const b2i_state *now = &j->found.s->now;
    return i < now->nchunks ? b2i_state_entry(now, i) : B2I_ENTRY_LOST;
}

static b2c_status copy_chunk(repair_job *j, uint64_t i, b2c_error *err)
{
    b2i_entry e = entry_of(j, i);
    if (!b2i_is_special(e)) {
        return keep(j, i, e, err);
    }
    uint8_t kind = b2i_entry_kind(e);
    if (kind != B2C_SPECIAL_NONE) {
        return keep_special(j, i, kind, err);
    }
    b2c_error why;
    (void)b2i_fail_field(&why, B2C_E_CORRUPT, B2C_NO_OFFSET, "index",
                         e == B2I_ENTRY_SHARED ? "the index names the chunk by an earlier number"
                                               : "a special chunk of no known kind");
    /* Without index, the scan has told of it. */
    return lose(j, i, j->found.has_index ? &why : NULL, err);
}

/* What of an array, or of a frame with a sound header, was not found at all. */
static b2c_status note_missing(repair_job *j, b2c_error *err)
{
    const b2i_state *now = &j->found.s->now;
    uint64_t expected = j->nchunks;
    b2c_error e;
    if (j->found.has_index) {
        return B2C_OK;
    }
    if (!j->is_array && j->size > 0) {
        expected = b2i_ceil_div(j->found.header_nbytes, j->size);
    }
    (void)b2i_fail(&e, B2C_E_TRUNCATED, B2C_NO_OFFSET,
                   "there is no index: chunks are taken in the order of the file");
    e.field = "index";
    B2I_TRY(b2i_note(&j->to, B2C_PART_FRAME, NULL, 0, &e, err));
    if (expected > now->nchunks) {
        (void)b2i_fail_sizes(&e, B2C_E_TRUNCATED, B2C_NO_OFFSET, "the last chunks are not there",
                             expected, now->nchunks);
        e.chunk = (int64_t)now->nchunks;
        B2I_TRY(b2i_note(&j->to, B2C_PART_CHUNK, NULL, expected - now->nchunks, &e, err));
        j->result.nlost += j->is_array ? 0 : expected - now->nchunks;
    }
    return B2C_OK;
}

/* ---- the new frame ---- */

static b2c_status create(repair_job *j, const char *to, b2c_error *err)
{
    b2i_state *now = &j->found.s->now;
    const char *names[B2C_MAX_METALAYERS];
    const void *contents[B2C_MAX_METALAYERS];
    uint32_t lens[B2C_MAX_METALAYERS];
    b2c_schunk_params p;
    b2c_error why;
    b2c_schunk_params_init(&p);
    p.storage = j->params->storage;
    p.path = to;
    p.replaces = 1;
    p.chunksize = j->size > 0 || now->chunksize == B2I_CHUNKSIZE_VAR ? (int64_t)j->size : -1;
    for (uint32_t i = 0; i < now->metas.n; i++) { /* the parser allows no more of them */
        names[i] = now->metas.v[i].name;
        contents[i] = now->metas.v[i].p;
        lens[i] = (uint32_t)now->metas.v[i].n;
    }
    p.nmeta = (uint8_t)now->metas.n;
    p.meta_names = names;
    p.meta_contents = contents;
    p.meta_lens = lens;
    p.cparams = now->cparams;
    p.limits = j->params->limits;
    b2c_status st = b2i_cparams_check(&p.cparams, &why);
    if (st != B2C_OK) {
        b2c_cparams_init(&p.cparams);
        p.cparams.typesize = now->cparams.typesize <= B2C_MAX_TYPESIZE ? now->cparams.typesize : 1;
        p.cparams.blocksize =
            now->cparams.blocksize <= B2C_MAX_BLOCKSIZE ? now->cparams.blocksize : 0;
    }
    B2I_TRY(b2i_schunk_create(&p, &j->dst, err));
    if (b2i_is_foreign(st)) { /* what later appends start from, where the codec is known */
        j->dst->now.cparams = now->cparams;
    }
    return B2C_OK;
}

/* Whether all chunks are sound ones of the same special kind, whose sizes are known. */
static bool is_uniform(const repair_job *j, uint8_t *kind)
{
    const b2i_state *now = &j->found.s->now;
    if (now->entries != NULL || now->nchunks < 2 || now->nchunks != j->nchunks) {
        return false;
    }
    *kind = b2i_entry_kind(now->uniform);
    return is_sound_special(j, 0, *kind) && is_sound_special(j, j->nchunks - 1, *kind);
}

static b2c_status fill(repair_job *j, b2c_error *err)
{
    uint8_t kind;
    uint64_t i = 0;
    B2I_TRY(b2i_schunk_begin(j->dst, err));
    if (is_uniform(j, &kind)) { /* there may be hundreds of millions */
        uint64_t nbytes = (j->nchunks - 1) * j->size + j->last;
        B2I_TRY(b2i_schunk_fill_special(j->dst, nbytes, kind, NULL, err));
        i = j->result.nkept = j->nchunks;
    }
    for (; i < j->nchunks; i++) {
        bool takes_time = !b2i_is_special(entry_of(j, i));
        B2I_TRY(takes_time || i % PROGRESS_EVERY == 0 ? progress(j, i, err) : B2C_OK);
        B2I_TRY(copy_chunk(j, i, err));
    }
    B2I_TRY(progress(j, j->nchunks, err));
    B2I_TRY(b2i_metas_merge(&j->found.s->now.vlmetas, &j->dst->now.vlmetas, err));
    return b2i_schunk_commit(j->dst, err);
}

static b2c_status check_free(const char *to, b2c_error *err)
{
    b2i_at_path there;
    B2I_TRY(b2i_fs_look(B2I_FS_CWD, to, &there, err));
    return there.kind == B2I_NOTHING
               ? B2C_OK
               : b2i_fail(err, B2C_E_EXISTS, B2C_NO_OFFSET,
                          "something is at the path of the new frame already");
}

/* It has no path before its first commit, the one of all chunks. */
static b2c_status write_new(repair_job *j, const char *to, b2c_error *err)
{
    B2I_TRY(j->params->replaces ? B2C_OK : check_free(to, err));
    B2I_TRY(create(j, to, err));
    b2c_status st = fill(j, err);
    if (st != B2C_OK) {
        b2i_schunk_abandon(j->dst);
        j->dst = NULL;
        return st;
    }
    j->result.nchunks = j->dst->now.nchunks;
    st = b2i_schunk_close(j->dst, err);
    j->dst = NULL;
    if (st != B2C_OK && !j->params->replaces) {
        b2i_schunk_remove(j->params->storage, to);
    }
    return st;
}

static b2c_status run(repair_job *j, const char *from, const char *to, b2c_error *err)
{
    const b2i_salvage_job job = { &j->to, &j->ctx->limits, j->ctx, j->params->offset };
    B2I_TRY(b2i_salvage_open(&job, from, &j->found, err));
    b2i_state *now = &j->found.s->now;
    B2I_TRY(check_metas(j, err));
    B2I_TRY(check_vlmetas(j, err));
    B2I_TRY(plan(j, err));
    if (!j->found.has_head && now->nchunks == 0) {
        return b2i_fail(err, B2C_E_FORMAT, B2C_NO_OFFSET,
                        "neither a frame's header nor a sound chunk is there");
    }
    j->result.has_index = j->found.has_index;
    B2I_TRY(note_missing(j, err));
    b2c_status st = write_new(j, to, err);
    if (st == B2C_E_IO && err != NULL) { /* what cannot be read is lost, which is no failure */
        err->field = "to";
    }
    return st;
}

b2c_status b2i_repair(const char *from, const char *to, const b2c_repair_params *params,
                      b2c_repair_result *result, b2c_error *err)
{
    repair_job j = { .params = params, .to = { params->note, params->handle } };
    B2I_TRY(b2c_ctx_new(NULL, 1, params->limits, &j.ctx, err));
    b2c_status st = run(&j, from, to, err);
    if (j.found.s != NULL) {
        b2i_schunk_abandon(j.found.s);
    }
    b2i_scratch_free(&j.scratch);
    b2c_ctx_free(j.ctx);
    if (st == B2C_OK) {
        *result = j.result;
    }
    return st;
}
