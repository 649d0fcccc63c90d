/*
 * salvage.c: opens what cannot be opened in the usual way: every part is read on its own, and what
 * is impossible in one of them is replaced by a guess.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "repair.h"
#include "checked.h"

enum {
    HEADER_FIRST_READ = 1 << 16,
    TRAILER_MAX_READ = 1 << 28,
    FINGERPRINT_TYPE_FROM_END = 17,
    AT_HEADER_LEN = 0x0B,
    AT_CBYTES = 0x27,
    AT_CHUNKSIZE = 0x3A,
};

/* What is being opened in parts. */
typedef struct parts {
    const b2i_salvage_job *job;
    b2i_io *io; /* the frame, or the index file of a directory; NULL: there is none */
    bool io_is_taken;
    uint64_t len;
    uint8_t frame_type;
    bool has_head;
    b2i_frame_head head;
    uint64_t header_len;
    bool knows_header_len; /* it is where the metalayers end, or where it leads to the index */
    uint64_t data_end;     /* the trailer's place, when that and the header agree; else no place */
    b2i_buf buf;
} parts;

/* Places count from the frame here, and in the file for who is told. */
static b2c_status note(const parts *p, int part, const b2c_error *what, b2c_error *err)
{
    b2c_error in_file = *what;
    b2i_err_shift(&in_file, p->job->offset);
    return b2i_note(p->job->to, part, NULL, 0, &in_file, err);
}

/* What there is of n bytes, up to the first bad place of the medium, which is told of. */
static b2c_status get(parts *p, uint64_t at, uint64_t n, b2i_span *out, b2c_error *err)
{
    *out = b2i_span_of(NULL, 0);
    if (at >= p->len) {
        return B2C_OK;
    }
    n = n < p->len - at ? n : p->len - at;
    p->buf.n = 0;
    if (n > SIZE_MAX || !b2i_buf_reserve(&p->buf, (size_t)n)) {
        return b2i_fail_memory(err);
    }
    b2c_error why;
    at += p->job->offset;
    if (b2i_read_most(p->io, at, p->buf.p, (size_t)n, &why) != B2C_OK) {
        B2I_TRY(b2i_note(p->job->to, B2C_PART_FRAME, NULL, 0, &why, err));
        n = why.offset - at;
    }
    *out = b2i_span_of(p->buf.p, (size_t)n);
    return B2C_OK;
}

/* ---- header ---- */

/* Markers of the header, where writers agree: do most of them stand where they should? */
static bool looks_like_head(const uint8_t bytes[B2I_FRAME_FIXED_LEN])
{
    static const uint8_t markers[][2] = { { 0x00, 0x9e }, { 0x01, 0xa8 }, { 0x02, 'b' },
                                          { 0x03, '2' },  { 0x0A, 0xd2 }, { 0x0F, 0xcf },
                                          { 0x18, 0xa4 }, { 0x1D, 0xd3 }, { 0x26, 0xd3 },
                                          { 0x2F, 0xd2 }, { 0x34, 0xd2 }, { 0x39, 0xd2 },
                                          { 0x3E, 0xd1 }, { 0x41, 0xd1 }, { 0x45, 0xd8 } };
    enum { NMARKERS = sizeof markers / sizeof *markers };
    int n = 0;
    for (size_t i = 0; i < NMARKERS; i++) {
        n += bytes[markers[i][0]] == markers[i][1];
    }
    return n > NMARKERS / 2;
}

/* Puts something harmless in the place of a field that the parser refuses; false: it has none. */
static bool patch(uint8_t bytes[B2I_FRAME_FIXED_LEN], uint64_t offset)
{
    static const struct {
        uint8_t at, len;
        uint8_t with[10];
    } patches[] = {
        { 0x00, 10, { 0x9e, 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 } },
        { 0x01, 9, { 0xa8, 'b', '2', 'f', 'r', 'a', 'm', 'e', 0 } },
        { AT_HEADER_LEN, 4, { 0, 0, 0, B2I_MIN_FULL_HEADER_LEN } },
        { 0x10, 8, { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
        { 0x19, 1, { 0x12 } },
        { 0x1E, 8, { 0 } }, /* nbytes: not known */
        { AT_CBYTES, 8, { 0 } },
        { 0x30, 4, { 0, 0, 0, 1 } },
        { 0x35, 4, { 0 } },
        { AT_CHUNKSIZE, 4, { 0 } },
        { 0x46, 1, { 6 } },
    };
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        if (patches[i].at == offset) {
            memcpy(bytes + offset, patches[i].with, patches[i].len);
            return true;
        }
    }
    return false;
}

static b2c_status read_head(parts *p, b2c_error *err)
{
    uint8_t bytes[B2I_FRAME_FIXED_LEN] = { 0 };
    b2c_error why;
    b2i_span s = { NULL, 0 };
    if (p->io != NULL) {
        B2I_TRY(get(p, 0, sizeof bytes, &s, err));
    }
    if (s.n > 0) {
        memcpy(bytes, s.p, s.n);
    }
    p->has_head = s.n == sizeof bytes && looks_like_head(bytes);
    if (!p->has_head) {
        (void)b2i_fail(&why, B2C_E_FORMAT, 0, "there is no frame header");
        return note(p, B2C_PART_FRAME, &why, err);
    }
    bool has_chunksize = true;
    while (b2i_frame_head_parse(b2i_span_of(bytes, sizeof bytes), &p->head, &why) != B2C_OK) {
        B2I_TRY(note(p, B2C_PART_FRAME, &why, err));
        if (!patch(bytes, why.offset)) {
            p->has_head = false;
            return B2C_OK;
        }
        has_chunksize = has_chunksize && why.offset != AT_CHUNKSIZE;
    }
    p->head.chunksize = has_chunksize ? p->head.chunksize : B2I_CHUNKSIZE_NEW;
    b2c_status st = b2i_cparams_check(&p->head.cparams, &why);
    if (st != B2C_OK && !b2i_is_foreign(st)) {
        B2I_TRY(note(p, B2C_PART_FRAME, &why, err));
        uint32_t typesize = p->head.cparams.typesize;
        b2c_cparams_init(&p->head.cparams);
        p->head.cparams.typesize = typesize <= B2C_MAX_TYPESIZE ? typesize : 1;
    }
    return B2C_OK;
}

/* Length of the header that holds these metalayers. */
static uint64_t full_header_len(const b2i_metas *metas)
{
    return b2i_laid_out_len(B2I_MIN_FULL_HEADER_LEN, metas);
}

/* The index where the header says, if the header ends at 'header_len'; *behind is its end. */
static b2c_status try_index(parts *p, uint64_t header_len, b2i_index *index, uint64_t *behind,
                            b2c_error *why)
{
    b2i_chunk_head head;
    b2i_span s;
    uint64_t at = header_len, nchunks = UINT64_MAX;
    if (p->frame_type == B2I_FRAME_CONTIGUOUS && !b2i_add_u64(at, p->head.cbytes, &at)) {
        return b2i_fail(why, B2C_E_CORRUPT, AT_CBYTES, "the index lies too far away");
    }
    if (p->head.chunksize > 0) {
        nchunks = b2i_ceil_div(p->head.nbytes, (uint64_t)p->head.chunksize);
    }
    B2I_TRY(get(p, at, B2C_HEADER_LEN, &s, why));
    b2c_status st = b2i_chunk_head_parse(s, NULL, &head, why);
    if (st == B2C_OK) {
        B2I_TRY(get(p, at, head.cbytes, &s, why));
        st = b2i_index_decode(s, b2i_index_room_of(p->job->limits, nchunks, p->len), index, why);
    }
    if (st != B2C_OK) {
        b2i_err_shift(why, at);
        return st;
    }
    *behind = at + head.cbytes;
    return B2C_OK;
}

static bool has_index_at(parts *p, uint64_t header_len)
{
    b2i_index index = { .n = 0 };
    uint64_t behind;
    b2c_error why;
    bool found = try_index(p, header_len, &index, &behind, &why) == B2C_OK && index.n > 0;
    b2i_free(index.entries);
    return found;
}

/* Metalayers of the first n bytes, of which 'metas' keeps what it can. */
static b2c_status parse_metas(parts *p, uint64_t n, b2i_metas *metas, b2c_status *result,
                              b2c_error *why, b2c_error *err)
{
    b2i_span header;
    B2I_TRY(get(p, 0, n, &header, err));
    *result = b2i_frame_metas_parse(header, p->job->limits, metas, why);
    return *result == B2C_E_MEMORY ? b2i_fail_memory(err) : B2C_OK;
}

/*
 * The end of the header is told twice: by a field, and by the metalayers.  When they differ, the
 * one is right behind which, at the distance that the header tells, an index is found.
 */
static b2c_status find_header_end(parts *p, b2i_metas *metas, b2c_error *err)
{
    b2i_metas other = { 0 };
    b2c_error why, why2;
    b2c_status st = B2C_E_CORRUPT, st2;
    uint64_t field = p->head.header_len;
    bool is_plausible = field >= B2I_MIN_FULL_HEADER_LEN && field <= p->len;
    if (is_plausible) {
        p->header_len = field;
        B2I_TRY(parse_metas(p, field, metas, &st, &why, err));
        if (st == B2C_OK && full_header_len(metas) == field) {
            p->knows_header_len = true;
            return B2C_OK;
        }
    }
    b2c_status fatal = parse_metas(p, HEADER_FIRST_READ, &other, &st2, &why2, err);
    if (fatal != B2C_OK) {
        b2i_metas_free(&other);
        return fatal;
    }
    uint64_t told = st2 == B2C_OK ? full_header_len(&other) : B2I_FRAME_FIXED_LEN;
    if (!is_plausible || (st2 == B2C_OK && !has_index_at(p, field) && has_index_at(p, told))) {
        p->header_len = told;
        b2i_metas_free(metas);
        *metas = other;
        st = st2;
        why = why2;
    } else {
        b2i_metas_free(&other);
    }
    p->knows_header_len = st == B2C_OK || has_index_at(p, p->header_len);
    if (st != B2C_OK) {
        return note(p, B2C_PART_META, &why, err);
    }
    (void)b2i_fail_sizes(&why, B2C_E_CORRUPT, AT_HEADER_LEN,
                         "the header's length is not that of its metalayers", told, field);
    why.field = "header_len";
    return note(p, B2C_PART_FRAME, &why, err);
}

/* ---- index and trailer ---- */

/* Marks entries of kinds that do not exist. */
static void mark_lost(b2i_state *now)
{
    if (now->entries == NULL && b2i_entry_kind(now->uniform) == B2C_SPECIAL_NONE) {
        now->uniform = B2I_ENTRY_LOST;
    }
    for (uint64_t i = 0; now->entries != NULL && i < now->nchunks; i++) {
        b2i_entry e = now->entries[i];
        if (b2i_is_special(e) && b2i_entry_kind(e) == B2C_SPECIAL_NONE) {
            now->entries[i] = B2I_ENTRY_LOST;
        }
    }
}

/* *behind is the end of the index, or 0 when there is none. */
static b2c_status read_index(parts *p, b2i_state *now, uint64_t *behind, b2c_error *err)
{
    b2i_index index = { .n = 0 };
    b2c_error why;
    *behind = 0;
    if (p->head.nbytes == 0) {
        return B2C_OK;
    }
    b2c_status st = try_index(p, p->header_len, &index, behind, &why);
    if (st == B2C_E_MEMORY || st == B2C_E_CALLBACK) {
        return b2i_fail(err, st, B2C_NO_OFFSET, why.what);
    }
    if (st != B2C_OK) {
        why.field = "index";
        return note(p, B2C_PART_FRAME, &why, err);
    }
    now->entries = index.entries;
    now->uniform = index.uniform;
    now->nchunks = index.n;
    now->cap = index.entries == NULL ? 0 : (size_t)index.n;
    mark_lost(now);
    return B2C_OK;
}

/* vlmetalayers at a place; records are not trusted when another library wrote the trailer last. */
static b2c_status read_trailer(parts *p, uint64_t at, b2c_schunk *s, b2c_error *err)
{
    b2i_span trailer;
    b2c_error why;
    B2I_TRY(get(p, at, TRAILER_MAX_READ, &trailer, err));
    b2c_status st = b2i_trailer_parse(trailer, p->job->limits, &s->now.vlmetas, &why);
    if (st == B2C_E_MEMORY) {
        return b2i_fail_memory(err);
    }
    if (st != B2C_OK) {
        b2i_err_shift(&why, at);
        return note(p, B2C_PART_VLMETA, &why, err);
    }
    uint64_t end = p->head.frame_len;
    if (end <= p->len && end > at + FINGERPRINT_TYPE_FROM_END) {
        b2i_reader r = b2i_rd_init(trailer, (size_t)(end - at) - FINGERPRINT_TYPE_FROM_END);
        uint8_t type = b2i_rd_u8(&r);
        s->store->is_trusted = r.failed || type == B2I_FINGERPRINT_XXH3;
    }
    return B2C_OK;
}

/* Where the trailer begins, told by the end of the frame; 0: nowhere. */
static b2c_status find_trailer(parts *p, uint64_t *at, b2c_error *err)
{
    uint64_t ends[2] = { p->head.frame_len, p->len };
    *at = 0;
    for (int i = 0; i < 2 && *at == 0; i++) {
        b2i_span tail;
        b2i_frame_head head = p->head;
        uint32_t n;
        if (ends[i] > p->len || ends[i] < p->header_len + B2I_TRAILER_TAIL_LEN) {
            continue;
        }
        head.frame_len = ends[i];
        head.header_len = p->header_len < UINT32_MAX ? (uint32_t)p->header_len : UINT32_MAX;
        B2I_TRY(get(p, ends[i] - B2I_TRAILER_TAIL_LEN, B2I_TRAILER_TAIL_LEN, &tail, err));
        if (b2i_trailer_len_parse(tail, &head, &n, NULL) == B2C_OK) {
            *at = ends[i] - n;
        }
    }
    return B2C_OK;
}

/* ---- a file ---- */

static void take_head(const parts *p, b2i_salvage *out)
{
    b2i_state *now = &out->s->now;
    out->has_head = p->has_head;
    if (p->has_head) {
        now->cparams = p->head.cparams;
        now->chunksize = p->head.chunksize;
        now->nbytes = p->head.nbytes;
        out->header_nbytes = p->head.nbytes;
    } else {
        now->cparams.typesize = 1;
    }
}

/* Without a usable index: what the scan found. */
static void take_scan(b2i_scan *scan, b2i_salvage *out)
{
    b2i_state *now = &out->s->now;
    b2i_free(now->entries);
    now->nchunks = scan->entries.n / sizeof(b2i_entry);
    now->entries = (b2i_entry *)(void *)scan->entries.p; /* malloc's memory suits any type */
    now->cap = (size_t)now->nchunks;
    scan->entries = (b2i_buf){ 0 };
    out->has_index = scan->has_index;
}

static b2c_status scan_file(const parts *p, bool use_index, b2i_salvage *out, b2c_error *err)
{
    b2i_state *now = &out->s->now;
    b2i_scan scan = {
        .job = p->job,
        .io = p->io,
        .of = out->s,
        .header_len = p->header_len,
        .start = p->header_len,
        .end = p->len,
        .data_end = p->data_end,
        .silent = use_index,
    };
    b2c_status st = b2i_scan_run(&scan, err);
    if (st == B2C_OK && use_index) {
        st = b2i_scan_mend(&scan, now, err);
    } else if (st == B2C_OK) {
        take_scan(&scan, out);
    }
    if (st == B2C_OK && now->vlmetas.n < scan.vlmetas.n) {
        b2i_metas_free(&now->vlmetas);
        now->vlmetas = scan.vlmetas;
        scan.vlmetas = (b2i_metas){ 0 };
    }
    b2i_scan_free(&scan);
    return st;
}

/* When nothing in the header tells where it ends, the chunks do: their records count from there. */
static b2c_status find_chunks_begin(parts *p, b2c_error *err)
{
    b2i_scan scan = { .job = p->job, .io = p->io, .end = p->len };
    uint64_t begin;
    scan.start = p->has_head ? B2I_FRAME_FIXED_LEN : 0; /* the chunks may be all there is */
    B2I_TRY(b2i_scan_header_len(&scan, &begin, err));
    p->header_len = begin > 0 && begin <= UINT32_MAX ? begin : p->header_len;
    return B2C_OK;
}

/* Whether the header, too, says that index and chunks are before a trailer. */
static bool is_before(const parts *p, uint64_t trailer_at)
{
    uint64_t index_at;
    return b2i_add_u64(p->header_len, p->head.cbytes, &index_at) && index_at < trailer_at &&
           trailer_at - index_at >= B2C_HEADER_LEN;
}

static b2c_status load_file(parts *p, b2i_salvage *out, b2c_error *err)
{
    uint64_t behind = 0, named, there;
    p->data_end = UINT64_MAX;
    B2I_TRY(read_head(p, err));
    if (p->has_head) {
        B2I_TRY(find_header_end(p, &out->s->now.metas, err));
    }
    if (!p->knows_header_len) {
        B2I_TRY(find_chunks_begin(p, err));
    }
    p->header_len = p->header_len < p->len ? p->header_len : p->len;
    take_head(p, out);
    b2i_frame_layout layout = {
        .head = { .header_len = (uint32_t)p->header_len, .frame_len = p->len, .nbytes = 1 },
        .index_at = p->len
    };
    p->io_is_taken = true;
    B2I_TRY(b2i_store_file_new(p->io, NULL, p->job->offset, false, &layout, &out->s->store, err));
    out->s->store->verifies = true;
    out->s->store->is_trusted = true;
    if (p->has_head) {
        B2I_TRY(read_index(p, &out->s->now, &behind, err));
        out->has_index = behind > 0;
        if (behind == 0) {
            B2I_TRY(find_trailer(p, &behind, err));
            p->data_end = is_before(p, behind) ? behind : UINT64_MAX;
        }
        B2I_TRY(behind > 0 ? read_trailer(p, behind, out->s, err) : B2C_OK);
    }
    B2I_TRY(b2i_named_count(out->s, &named, &there, err));
    if (out->has_index && there == named && !b2i_named_has_odd(&out->s->now)) {
        return B2C_OK;
    }
    return scan_file(p, out->has_index && there >= named - there, out, err);
}

static b2c_status salvage_file(const b2i_salvage_job *job, const char *path, b2i_salvage *out,
                               b2c_error *err)
{
    parts p = { .job = job, .frame_type = B2I_FRAME_CONTIGUOUS };
    B2I_TRY(b2i_io_file_open(path, B2I_IO_READ, &p.io, err));
    b2c_status st = p.io->ops->size(p.io, &p.len, err);
    if (st == B2C_OK) {
        p.len = p.len < job->offset ? 0 : p.len - job->offset;
        st = load_file(&p, out, err);
    }
    if (!p.io_is_taken) {
        (void)p.io->ops->close(p.io, NULL);
    }
    b2i_buf_free(&p.buf);
    return st;
}

/* ---- a directory ---- */

static b2c_status load_index_file(parts *p, b2i_salvage *out, b2c_error *err)
{
    uint64_t behind = 0;
    B2I_TRY(read_head(p, err));
    if (p->has_head) {
        B2I_TRY(find_header_end(p, &out->s->now.metas, err));
        B2I_TRY(read_index(p, &out->s->now, &behind, err));
        out->has_index = behind > 0;
        if (behind == 0) {
            B2I_TRY(find_trailer(p, &behind, err));
        }
        B2I_TRY(behind > 0 ? read_trailer(p, behind, out->s, err) : B2C_OK);
    }
    take_head(p, out);
    return B2C_OK;
}

/* Chunk files in the order of their numbers. */
static b2c_status list_chunks(int dir, b2i_salvage *out, b2c_error *err)
{
    b2i_state *now = &out->s->now;
    b2i_entry *entries;
    size_t n;
    B2I_TRY(b2i_store_dir_list(dir, &entries, &n, err));
    b2i_free(now->entries);
    now->entries = entries;
    now->nchunks = n;
    now->cap = n;
    return B2C_OK;
}

static b2c_status salvage_dir(const b2i_salvage_job *job, const char *path, b2i_salvage *out,
                              b2c_error *err)
{
    parts p = { .job = job, .frame_type = B2I_FRAME_SPARSE };
    b2c_error why;
    int dir;
    uint64_t named, there;
    b2i_frame_layout layout = { .head = { .nbytes = 1 } };
    B2I_TRY(b2i_fs_dir_open(path, &dir, err));
    B2I_TRY(b2i_store_dir_new(dir, false, &layout, &out->s->store, err)); /* takes dir */
    out->s->store->verifies = true;
    out->s->store->is_trusted = true;
    b2c_status st = b2i_store_dir_open_index(dir, &p.io, &why);
    if (st == B2C_OK) {
        st = p.io->ops->size(p.io, &p.len, err);
    } else {
        p.io = NULL;
        st = st == B2C_E_MEMORY ? b2i_fail_memory(err) : B2C_OK;
    }
    if (st == B2C_OK) {
        st = load_index_file(&p, out, err);
    }
    if (p.io != NULL) {
        (void)p.io->ops->close(p.io, NULL);
    }
    b2i_buf_free(&p.buf);
    B2I_TRY(st);
    B2I_TRY(b2i_named_count(out->s, &named, &there, err));
    if (out->has_index && there >= named - there) {
        return B2C_OK;
    }
    out->has_index = false;
    return list_chunks(dir, out, err);
}

/* ---- both ---- */

/* Bad places of the medium are damage; what cannot even be opened has none. */
static bool is_hopeless(const b2c_error *why, bool is_dir)
{
    bool is_closed = why->status == B2C_E_IO && why->offset == B2C_NO_OFFSET;
    return why->status == B2C_E_MEMORY || why->status == B2C_E_CALLBACK ||
           why->status == B2C_E_ARGUMENT || (is_closed && !is_dir);
}

/* The last edit of a killed writer, whose chunk does not fit its record, is in no state. */
static b2c_status note_cut(const b2i_salvage_job *job, b2i_salvage *out, b2c_error *err)
{
    b2c_error why;
    (void)b2i_fail(&why, B2C_E_CHECKSUM, B2C_NO_OFFSET,
                   "the last edit of a killed writer is damaged, or was not finished");
    b2i_err_chunk(&why, (int64_t)out->s->now.nchunks);
    b2c_status st = b2i_note(job->to, B2C_PART_CHUNK, NULL, 1, &why, err);
    if (st != B2C_OK) {
        b2i_schunk_abandon(out->s);
        out->s = NULL;
    }
    return st;
}

/* The usual way.  *usable: it can be read, and its index leads to chunks. */
static b2c_status open_usually(const b2i_salvage_job *job, const char *path, bool *usable,
                               b2i_salvage *out, b2c_error *err)
{
    b2c_error why;
    uint64_t named, there;
    *usable = false;
    b2c_status st =
        b2i_schunk_open_path(path, job->offset, B2C_OPEN_READ, job->limits, &out->s, &why);
    if (st != B2C_OK) {
        bool is_dir; /* which can be repaired without its index file */
        B2I_TRY(b2i_fs_is_dir(path, &is_dir, err));
        if (is_hopeless(&why, is_dir)) {
            if (err != NULL) {
                *err = why;
            }
            return st;
        }
        return b2i_note(job->to, B2C_PART_FRAME, NULL, 0, &why, err);
    }
    st = b2i_named_count(out->s, &named, &there, err);
    if (st != B2C_OK) {
        b2i_schunk_abandon(out->s);
        out->s = NULL;
        return st;
    }
    /* A fingerprint vouches for the index. */
    *usable = (there == named && !b2i_named_has_odd(&out->s->now)) || out->s->store->is_trusted;
    if (!*usable) {
        b2i_schunk_abandon(out->s);
        out->s = NULL;
        if (there != named) {
            (void)b2i_fail_sizes(&why, B2C_E_CORRUPT, B2C_NO_OFFSET,
                                 "some entries of the index do not lead to chunks", named, there);
        } else {
            (void)b2i_fail(&why, B2C_E_CORRUPT, B2C_NO_OFFSET,
                           "some entries of the index are of a kind that no writer makes");
        }
        why.field = "index";
        return b2i_note(job->to, B2C_PART_FRAME, NULL, 0, &why, err);
    }
    out->has_index = true;
    out->has_head = true;
    out->has_sizes = true;
    out->header_nbytes = out->s->now.nbytes;
    return out->s->store->is_cut ? note_cut(job, out, err) : B2C_OK;
}

b2c_status b2i_salvage_open(const b2i_salvage_job *job, const char *path, b2i_salvage *out,
                            b2c_error *err)
{
    b2i_salvage found = { 0 };
    bool usable, is_dir;
    B2I_TRY(open_usually(job, path, &usable, &found, err));
    if (!usable) {
        B2I_TRY(b2i_fs_is_dir(path, &is_dir, err));
        B2I_TRY(b2i_schunk_alloc(job->limits, &found.s, err));
        b2c_status st =
            is_dir ? salvage_dir(job, path, &found, err) : salvage_file(job, path, &found, err);
        if (st == B2C_OK) {
            st = b2i_named_once(found.s, err);
        }
        if (st != B2C_OK) {
            b2i_schunk_abandon(found.s);
            return st;
        }
    }
    *out = found;
    return B2C_OK;
}
