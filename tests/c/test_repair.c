/*
 * test_repair.c: a sector of the medium that cannot be read costs no more than the chunks in it;
 * what fails leaves nothing; and chunks that only their array explains are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "io_hook.h"
#include "store_dir.h"
#include "world.h"

enum { CHUNK = 400, NCHUNKS = 200, SECTOR = 512 };

static b2c_ctx *ctx;
static b2c_error err;
static char dir[] = "/tmp/b2c_test_XXXXXX", from[300], to[300];
static uint64_t seed = 88172645463325252u;

/* ---- a bad sector ---- */

static uint64_t bad_at = UINT64_MAX;
static int nbad_notes;

/* Reads of the damaged frame that touch the sector fail. */
static int bad_sector(b2i_io_event *e)
{
    return e->call == B2I_CALL_READ && strcmp(e->name, from) == 0 && bad_at != UINT64_MAX &&
                   e->at < bad_at + SECTOR && bad_at < e->at + e->n
               ? EIO
               : 0;
}

static int hear(void *handle, const b2c_repair_note *note)
{
    (void)handle;
    nbad_notes += note->error->status == B2C_E_IO;
    return 0;
}

/* Chunks of noise with four vlmetalayers behind them. */
static void make_frame(int nchunks, uint64_t *size)
{
    static uint8_t data[CHUNK];
    struct stat info;
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_FILE;
    p.path = from;
    p.chunksize = CHUNK;
    p.cparams.typesize = 1;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_begin(s, &err), B2C_OK);
    for (int i = 0; i < nchunks; i++) {
        for (int k = 0; k < CHUNK; k++) {
            data[k] = (uint8_t)(harness_random(&seed) >> 20);
        }
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    }
    for (int i = 0; i < 4; i++) {
        const char name[] = { 'v', (char)('0' + i), '\0' };
        CHECK_EQ(b2c_schunk_vlmeta_set(s, ctx, name, data, sizeof data, &err), B2C_OK);
    }
    CHECK_EQ(b2c_schunk_commit(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(stat(from, &info), 0);
    *size = (uint64_t)info.st_size;
}

/* All chunks of the damaged frame are there but for those that touch the sector. */
static void repair_all_but_one(void)
{
    enum { MOST_IN_SECTOR = 3 };
    b2c_repair_params p;
    b2c_repair_result r = { 0 };
    b2c_repair_params_init(&p);
    p.note = hear;
    nbad_notes = 0;
    (void)unlink(to);
    b2c_status st = b2c_repair(from, to, &p, &r, &err);
    CHECK_EQ(st, B2C_OK);
    CHECK(nbad_notes > 0);
    if (st != B2C_OK || r.nkept + MOST_IN_SECTOR < NCHUNKS) {
        CHECK_EQ(r.nkept, NCHUNKS);
        fprintf(stderr, "the bad sector is at %lu\n", (unsigned long)bad_at);
    }
}

/* no_index: the chunks are to be searched for. */
static void test_bad_sectors(bool no_index)
{
    enum {
        IN_CHUNKS = 512,
        LAST_IN_CHUNKS = 4096,
        TAIL = 1950
    }; /* trailer and half of the index */
    uint64_t size;
    make_frame(NCHUNKS, &size);
    if (no_index) {
        size -= TAIL;
        CHECK_EQ(truncate(from, (off_t)size), 0);
    }
    b2i_io_hook = bad_sector;
    for (bad_at = 0; bad_at < size; bad_at += SECTOR) {
        repair_all_but_one();
        /* Opening needs the header only, though it reads on. */
        b2c_schunk *s = NULL;
        if (!no_index && bad_at >= IN_CHUNKS && bad_at < LAST_IN_CHUNKS) {
            CHECK_EQ(b2c_schunk_open(from, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
        }
        b2c_schunk_free(s);
    }
    bad_at = UINT64_MAX;
    b2i_io_hook = NULL;
    CHECK_EQ(unlink(from), 0);
    CHECK_EQ(unlink(to), 0);
}

/* ---- faults ---- */

static uint64_t ncalls, failing_call;

static int fail_one(b2i_io_event *e)
{
    (void)e;
    return ++ncalls == failing_call ? ENOSPC : 0;
}

typedef b2c_status maker(uint8_t storage, int option);

static b2c_status repair_to(uint8_t storage, int drop_lost)
{
    b2c_repair_params p;
    b2c_repair_result r;
    b2c_repair_params_init(&p);
    p.storage = storage;
    p.drop_lost = drop_lost;
    return b2c_repair(from, to, &p, &r, &err);
}

static b2c_status make_at(const char *path, uint8_t storage, int lock)
{
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    b2c_schunk_params_init(&p);
    p.storage = storage;
    p.path = path;
    p.lock = (uint8_t)lock;
    b2c_status st = b2c_schunk_new(&p, &s, &err);
    b2c_schunk_free(s);
    return st;
}

static b2c_status make_new(uint8_t storage, int lock)
{
    return make_at(to, storage, lock);
}

/* Whatever fails, there is a frame or nothing at all. */
static void let_each_fail(maker *make, uint8_t storage, int option, bool is_memory)
{
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
        ncalls = 0;
        failing_call = n;
        b2i_io_hook = is_memory ? NULL : fail_one;
        b2i_alloc_fail_at(is_memory ? n : 0, 0);
        b2c_status st = make(storage, option);
        fired = (is_memory ? b2i_alloc_count() : ncalls) >= n;
        b2i_alloc_fail_at(0, 0);
        b2i_io_hook = NULL;
        struct stat info;
        bool is_there = lstat(to, &info) == 0;
        CHECK_EQ(is_there, st == B2C_OK);
        if (is_there) {
            remove_path(to);
        }
    }
}

static void test_nothing_left(void)
{
    uint64_t size;
    make_frame(10, &size);
    for (uint8_t storage = B2C_STORAGE_FILE; storage <= B2C_STORAGE_DIR; storage++) {
        for (int option = 0; option < 2; option++) {
            for (int is_memory = 0; is_memory < 2; is_memory++) {
                let_each_fail(make_new, storage, option, is_memory);
                if (option == 0) {
                    let_each_fail(repair_to, storage, 0, is_memory);
                }
            }
        }
    }
    CHECK_EQ(unlink(from), 0);
}

/* ---- directories ---- */

static int fail_listing(b2i_io_event *e)
{
    return e->call == B2I_CALL_DIR_READ && ++ncalls >= failing_call ? EIO : 0;
}

/* A directory that cannot be listed to its end is not taken for one with less in it. */
static void test_listing(void)
{
    enum { NFILES = 8 };
    char index[400];
    uint64_t size;
    b2c_repair_params p;
    b2c_repair_result r;
    make_frame(NFILES, &size);
    b2c_repair_params_init(&p);
    p.storage = B2C_STORAGE_DIR;
    CHECK_EQ(b2c_repair(from, to, &p, &r, &err), B2C_OK);
    CHECK_EQ(unlink(from), 0);
    CHECK_EQ(rename(to, from), 0);
    print_path(index, sizeof index, "%s/chunks.b2frame", from);
    CHECK_EQ(unlink(index), 0);
    for (failing_call = 1; failing_call < NFILES; failing_call++) {
        ncalls = 0;
        b2i_io_hook = fail_listing;
        CHECK_EQ(b2c_repair(from, to, &p, &r, &err), B2C_E_IO);
        CHECK_EQ(err.sys_errno, EIO);
        CHECK(err.field == NULL);
        ncalls = 0;
        CHECK_EQ(make_at(from, B2C_STORAGE_DIR, 0), B2C_E_IO); /* it is not empty */
        b2i_io_hook = NULL;
    }
    CHECK_EQ(b2c_repair(from, to, &p, &r, &err), B2C_OK);
    CHECK_EQ(r.nkept, NFILES);
    remove_path(from);
    remove_path(to);
}

/* A directory of a few chunk files without checksums, of whose index one entry is another one. */
static void make_dir_with_entry(int nfiles, b2i_entry entry)
{
    uint8_t data[CHUNK], record[B2I_DIR_RECORD_LEN];
    b2i_frame_image image = { 0 };
    b2c_schunk_params p;
    b2c_schunk *s = NULL;
    int folder;
    b2c_schunk_params_init(&p);
    p.storage = B2C_STORAGE_DIR;
    p.path = from;
    p.checksums = 0;
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    for (int i = 0; i < nfiles; i++) {
        memset(data, i, sizeof data);
        data[0] = 99;
        CHECK_EQ(b2c_schunk_append(s, ctx, data, sizeof data, &err), B2C_OK);
    }
    s->now.entries[1] = entry;
    CHECK_EQ(b2i_fs_dir_open(from, &folder, &err), B2C_OK);
    CHECK_EQ(b2i_dir_replace_index(folder, &s->now, (uint64_t)nfiles, s->store, false, &image,
                                   record, &err),
             B2C_OK);
    b2i_frame_image_free(&image);
    b2i_fs_dir_close(folder);
    b2i_schunk_abandon(s);
}

/* An entry that is no number of a chunk file leads nowhere: not to the file with its low digits. */
static void test_large_number(void)
{
    enum { NFILES = 3 };
    b2c_repair_result r = { 0 };
    b2c_repair_params rp;
    make_dir_with_entry(NFILES, (b2i_entry)1 << 32);
    b2c_repair_params_init(&rp);
    CHECK_EQ(b2c_repair(from, to, &rp, &r, &err), B2C_OK);
    CHECK_EQ(r.nkept, NFILES - 1);
    CHECK_EQ(r.nlost, 1);
    remove_path(from);
    remove_path(to);
}

static int hear_of_kind(void *handle, const b2c_repair_note *note)
{
    (void)handle;
    nbad_notes += strstr(note->error->what, "a kind that no writer makes") != NULL;
    CHECK(note->error->expected != note->error->actual || note->error->expected == 0);
    return 0;
}

/* One of a kind that does not exist is not said to lead to no chunk. */
static void test_odd_entry(void)
{
    enum { NFILES = 3 };
    b2c_repair_result r = { 0 };
    b2c_repair_params rp;
    make_dir_with_entry(NFILES, B2I_ENTRY_ZERO | 1);
    b2c_repair_params_init(&rp);
    rp.note = hear_of_kind;
    nbad_notes = 0;
    CHECK_EQ(b2c_repair(from, to, &rp, &r, &err), B2C_OK);
    CHECK(nbad_notes > 0);
    remove_path(from);
    remove_path(to);
}

/* A file that is not there is no damage. */
static void test_nothing_there(void)
{
    b2c_repair_params p;
    b2c_repair_result r;
    b2c_repair_params_init(&p);
    p.note = hear;
    nbad_notes = 0;
    CHECK_EQ(b2c_repair(from, to, &p, &r, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, ENOENT);
    CHECK(err.field == NULL);
    CHECK_EQ(nbad_notes, 0);
}

/* Of the two paths the error tells which. */
static void test_nowhere_to_write(void)
{
    uint64_t size;
    b2c_repair_params p;
    b2c_repair_result r;
    make_frame(1, &size);
    b2c_repair_params_init(&p);
    CHECK_EQ(b2c_repair(from, "/nowhere/at/all", &p, &r, &err), B2C_E_IO);
    CHECK_EQ(err.sys_errno, ENOENT);
    CHECK(err.field != NULL && strcmp(err.field, "to") == 0);
    remove_path(from);
}

/* ---- chunks that decode only in their array ---- */

enum { EDGE = 64, NITEMS = EDGE * EDGE };

static const uint64_t zero[2] = { 0, 0 }, all[2] = { EDGE, EDGE }, one[2] = { 1, 1 };

static void read_items(const b2c_schunk *s, float *out)
{
    b2c_nd nd = { .size = sizeof nd };
    CHECK_EQ(b2c_nd_from_schunk(s, &nd, &err), B2C_OK);
    CHECK_EQ(b2c_nd_read(s, ctx, &nd, zero, all, one, out, NITEMS * sizeof *out, &err), B2C_OK);
}

/* Four chunks; 'tail' are the bytes of its trailer and of some of the index. */
static void make_array(uint8_t codec, uint8_t filter, float *items, uint64_t *size, uint64_t *tail)
{
    const b2c_nd nd = { .size = sizeof nd,
                        .ndim = 2,
                        .itemsize = sizeof(float),
                        .shape = { EDGE, EDGE },
                        .chunks = { EDGE / 2, EDGE / 2 },
                        .blocks = { EDGE / 4, EDGE / 4 } };
    uint8_t meta[512];
    size_t len = 0;
    uint32_t meta_len;
    const char *name = "b2nd";
    const void *shapes = meta;
    b2c_schunk *s = NULL;
    b2c_schunk_info info;
    b2c_schunk_params p;
    b2c_schunk_params_init(&p);
    CHECK_EQ(b2c_nd_meta_encode(&nd, "<f4", 3, meta, sizeof meta, &len, NULL), B2C_OK);
    meta_len = (uint32_t)len;
    p.storage = B2C_STORAGE_FILE;
    p.path = from;
    p.chunksize = (int64_t)b2c_nd_chunksize(&nd);
    p.nmeta = 1;
    p.meta_names = &name;
    p.meta_contents = &shapes;
    p.meta_lens = &meta_len;
    p.cparams.typesize = nd.itemsize;
    p.cparams.blocksize = (uint32_t)b2c_nd_blocksize(&nd);
    p.cparams.codec = codec;
    p.cparams.codec_meta = (uint8_t)-3; /* of ZFP: a thousandth */
    p.cparams.splitmode = B2C_SPLIT_NEVER;
    p.cparams.filters[5] = filter;
    p.cparams.filters_meta[5] = filter == B2C_FILTER_NONE ? 0 : 2;
    for (int i = 0; i < NITEMS; i++) {
        items[i] = (float)(i / EDGE / 8);
    }
    CHECK_EQ(b2c_schunk_new(&p, &s, &err), B2C_OK);
    CHECK_EQ(b2c_nd_append_chunks(s, ctx, &nd, 0, 4, items, NITEMS * sizeof *items, &err), B2C_OK);
    read_items(s, items); /* as they are stored */
    CHECK_EQ(b2c_schunk_close(s, &err), B2C_OK);
    CHECK_EQ(b2c_schunk_open(from, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
    b2c_schunk_info_get(s, &info);
    *size = info.frame_len;
    *tail = info.trailer_len + 20;
    b2c_schunk_free(s);
}

static void test_shaped_chunks(uint8_t codec, uint8_t filter)
{
    static float items[NITEMS], kept[NITEMS];
    uint64_t size = 0, tail = 0;
    make_array(codec, filter, items, &size, &tail);
    for (int cut = 0; cut < 2; cut++) { /* without its index the chunks are searched for */
        b2c_schunk *s = NULL;
        b2c_repair_params p;
        b2c_repair_result r = { 0 };
        b2c_repair_params_init(&p);
        CHECK_EQ(truncate(from, (off_t)(size - (cut == 0 ? 0 : tail))), 0);
        CHECK_EQ(b2c_repair(from, to, &p, &r, &err), B2C_OK);
        CHECK_EQ(r.has_index, cut == 0);
        CHECK_EQ(r.nkept, 4);
        CHECK_EQ(r.nlost, 0);
        CHECK_EQ(b2c_schunk_open(to, 0, B2C_OPEN_READ, NULL, &s, &err), B2C_OK);
        memset(kept, 0, sizeof kept);
        read_items(s, kept);
        CHECK(memcmp(kept, items, sizeof kept) == 0);
        b2c_schunk_free(s);
        CHECK_EQ(unlink(to), 0);
    }
    CHECK_EQ(unlink(from), 0);
}

int main(void)
{
    enum { NDCELL = 32, ZFP_ACC = 33 };
    CHECK(mkdtemp(dir) != NULL);
    snprintf(from, sizeof from, "%s/from", dir);
    snprintf(to, sizeof to, "%s/to", dir);
    CHECK_EQ(b2c_ctx_new(NULL, 1, NULL, &ctx, &err), B2C_OK);
    test_bad_sectors(false);
    test_bad_sectors(true);
    test_nothing_there();
    test_nowhere_to_write();
    test_nothing_left();
    test_listing();
    test_large_number();
    test_odd_entry();
    test_shaped_chunks(B2C_CODEC_BLOSCLZ, NDCELL);
    if (b2c_codec_available(ZFP_ACC)) {
        test_shaped_chunks(ZFP_ACC, B2C_FILTER_NONE);
    }
    b2c_ctx_free(ctx);
    CHECK_EQ(remove_path(dir), 0);
    return RESULT();
}
