/*
 * disk.h: records the calls that change files, and a model of the disk that makes again what is
 * there when only some of them took place.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef DISK_H
#define DISK_H

#include "fs.h"
#include "io_hook.h"
#include "world.h"

enum {
    MAX_FILES = 192,
    MAX_NAMES = 192,
    MAX_DIRS = 8,
    MAX_OPEN = 16,
    SECTOR = 512,
    PAGE = 4096,
    NONE = -1
};

/* ---- recording ---- */

/* What a name stands for: a file, a directory of files, or NONE of each. */
typedef struct entry {
    int file, dir;
} entry;

typedef struct op {
    b2i_io_call call;
    int file, name, to; /* numbers, or NONE */
    int dir;            /* of DIR_SYNC: which one; NONE: the root */
    entry moved, other; /* what was at 'name', and of EXCHANGE at 'to' */
    uint64_t at;
    size_t n;
    uint8_t *data;
} op;

/* Names are those in the root, and "2/name" in the directory of number 2. */
typedef struct recording {
    char root[512]; /* with a '/' at the end */
    op *v;
    size_t n, cap;
    char *names[MAX_NAMES];
    int nnames, nfiles, ndirs;
    entry entry[MAX_NAMES]; /* what a name stands for now */
    ino_t ino[MAX_DIRS];    /* 0: not seen yet, or gone */
    struct {
        const void *handle;
        int file;
    } open[MAX_OPEN];
} recording;

static const entry nothing = { NONE, NONE };
static recording rec;

/* The number of an open directory: of one that was not seen yet, the last that was made. */
static inline int dir_number(int fd)
{
    struct stat info;
    if (fd == B2I_FS_CWD || fstat(fd, &info) != 0) {
        return NONE;
    }
    for (int i = 0; i < rec.ndirs; i++) {
        if (rec.ino[i] == info.st_ino) {
            return i;
        }
    }
    if (rec.ndirs == 0 || rec.ino[rec.ndirs - 1] != 0) {
        return NONE; /* the root */
    }
    rec.ino[rec.ndirs - 1] = info.st_ino;
    return rec.ndirs - 1;
}

static inline int name_number(const char *name, int fd)
{
    char buf[600];
    size_t root = strlen(rec.root);
    const char *key = buf;
    if (strncmp(name, rec.root, root) == 0) {
        key = name + root;
    } else {
        print_path(buf, sizeof buf, "%d/%s", dir_number(fd), name);
    }
    for (int i = 0; i < rec.nnames; i++) {
        if (strcmp(rec.names[i], key) == 0) {
            return i;
        }
    }
    if (rec.nnames == MAX_NAMES) {
        fprintf(stderr, "too many names\n");
        abort();
    }
    rec.names[rec.nnames] = need(malloc(strlen(key) + 1));
    strcpy(rec.names[rec.nnames], key);
    rec.entry[rec.nnames] = nothing;
    return rec.nnames++;
}

/* The directory that a name is in, or NONE. */
static inline int dir_of(int name)
{
    const char *s = rec.names[name];
    return s[0] >= '0' && s[0] <= '9' && s[1] == '/' ? s[0] - '0' : NONE;
}

static inline int handle_slot(const void *handle)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        if (rec.open[i].handle == handle) {
            return i;
        }
    }
    fprintf(stderr, "an unknown file, or too many open\n");
    abort();
}

static inline int bind(const b2i_io_event *e, int name)
{
    if (rec.entry[name].file == NONE) {
        if (rec.nfiles == MAX_FILES) {
            fprintf(stderr, "too many files\n");
            abort();
        }
        rec.entry[name].file = rec.nfiles++;
    }
    int slot = handle_slot(NULL);
    rec.open[slot].handle = e->file;
    rec.open[slot].file = rec.entry[name].file;
    return rec.entry[name].file;
}

static inline entry new_dir(void)
{
    if (rec.ndirs == MAX_DIRS) {
        fprintf(stderr, "too many directories\n");
        abort();
    }
    rec.ino[rec.ndirs] = 0;
    return (entry){ NONE, rec.ndirs++ };
}

static inline void note_name(const b2i_io_event *e, op *o)
{
    o->name = name_number(e->name, e->dir);
    o->moved = rec.entry[o->name];
    rec.entry[o->name] = nothing;
    if (e->call == B2I_CALL_RENAME || e->call == B2I_CALL_EXCHANGE) {
        o->to = name_number(e->to, e->dir);
        o->other = rec.entry[o->to];
        rec.entry[o->to] = o->moved;
    }
    if (e->call == B2I_CALL_EXCHANGE) {
        rec.entry[o->name] = o->other;
    } else if (e->call == B2I_CALL_DIR_MAKE) {
        o->moved = rec.entry[o->name] = new_dir();
    } else if (e->call == B2I_CALL_DIR_REMOVE) {
        rec.ino[o->moved.dir] = 1; /* the number may be another one's from now on */
    }
}

static inline int record(b2i_io_event *e)
{
    op o = { .call = e->call, .file = NONE, .name = NONE, .to = NONE, .at = e->at, .n = e->n };
    int slot;
    switch (e->call) {
    case B2I_CALL_READ:
    case B2I_CALL_DIR_READ:
    case B2I_CALL_COPY_MODE:
    case B2I_CALL_LOOK:
        return 0;
    case B2I_CALL_OPEN:
    case B2I_CALL_CREATE:
        o.name = name_number(e->name, e->dir);
        if (e->call == B2I_CALL_OPEN && rec.entry[o.name].file == NONE) {
            return 0; /* it is not there */
        }
        o.file = bind(e, o.name);
        break;
    case B2I_CALL_WRITE:
    case B2I_CALL_TRUNCATE:
    case B2I_CALL_SYNC:
    case B2I_CALL_CLOSE:
        slot = handle_slot(e->file);
        o.file = rec.open[slot].file;
        if (e->call == B2I_CALL_CLOSE) {
            rec.open[slot].handle = NULL;
        }
        break;
    case B2I_CALL_DIR_SYNC:
        o.dir = dir_number(e->dir);
        break;
    case B2I_CALL_SYNC_ALL:
        break;
    default:
        note_name(e, &o);
        break;
    }
    if (e->call == B2I_CALL_WRITE) {
        o.data = need(malloc(e->n));
        memcpy(o.data, e->src, e->n);
    }
    if (rec.n == rec.cap) {
        rec.cap = rec.cap * 2 + 64;
        rec.v = need(realloc(rec.v, rec.cap * sizeof *rec.v));
    }
    rec.v[rec.n++] = o;
    return 0;
}

static inline void record_start(const char *root)
{
    print_path(rec.root, sizeof rec.root, "%s/", root);
    b2i_io_hook = record;
}

static inline void record_free(void)
{
    b2i_io_hook = NULL;
    for (size_t i = 0; i < rec.n; i++) {
        free(rec.v[i].data);
    }
    for (int i = 0; i < rec.nnames; i++) {
        free(rec.names[i]);
    }
    free(rec.v);
    rec = (recording){ 0 };
}

/* ---- the model ---- */

typedef struct disk {
    bytes file[MAX_FILES];
    entry entry[MAX_NAMES];
} disk;

static inline void disk_init(disk *d)
{
    *d = (disk){ .entry = { { 0, 0 } } };
    for (int i = 0; i < MAX_NAMES; i++) {
        d->entry[i] = nothing;
    }
}

static inline void disk_free(disk *d)
{
    for (int i = 0; i < MAX_FILES; i++) {
        bytes_free(&d->file[i]);
    }
}

static inline void file_copy(bytes *to, const bytes *from)
{
    to->n = 0;
    bytes_add(to, from->p, from->n);
}

static inline void disk_copy(disk *to, const disk *from)
{
    memcpy(to->entry, from->entry, sizeof to->entry);
    for (int i = 0; i < rec.nfiles; i++) {
        file_copy(&to->file[i], &from->file[i]);
    }
}

static inline void file_resize(bytes *f, size_t n)
{
    bytes_reserve(f, n);
    if (n > f->n) {
        memset(f->p + f->n, 0, n - f->n);
    }
    f->n = n;
}

static inline void file_write(bytes *f, uint64_t at, const uint8_t *p, size_t n)
{
    if (n > 0) {
        if (f->n < at + n) {
            file_resize(f, (size_t)at + n);
        }
        memcpy(f->p + at, p, n);
    }
}

/* What a call does to the contents of its file; of a write, the first 'n' bytes. */
static inline void apply_data(disk *d, const op *o, size_t n)
{
    switch (o->call) {
    case B2I_CALL_CREATE:
        file_resize(&d->file[o->file], 0);
        break;
    case B2I_CALL_WRITE:
        file_write(&d->file[o->file], o->at, o->data, n);
        break;
    case B2I_CALL_TRUNCATE:
        file_resize(&d->file[o->file], (size_t)o->at);
        break;
    default:
        break;
    }
}

/* What it does to names. */
static inline void apply_name(disk *d, const op *o)
{
    switch (o->call) {
    case B2I_CALL_CREATE:
        d->entry[o->name] = (entry){ o->file, NONE };
        break;
    case B2I_CALL_RENAME:
        d->entry[o->to] = o->moved;
        d->entry[o->name] = nothing;
        break;
    case B2I_CALL_EXCHANGE:
        d->entry[o->to] = o->moved;
        d->entry[o->name] = o->other;
        break;
    case B2I_CALL_DIR_MAKE:
        d->entry[o->name] = o->moved;
        break;
    case B2I_CALL_REMOVE:
    case B2I_CALL_DIR_REMOVE:
        d->entry[o->name] = nothing;
        break;
    default:
        break;
    }
}

static inline void apply(disk *d, const op *o)
{
    apply_data(d, o, o->n);
    apply_name(d, o);
}

/* Whether a call changes anything that another process could see. */
static inline int changes_disk(const op *o)
{
    return o->call != B2I_CALL_OPEN && o->call != B2I_CALL_SYNC && o->call != B2I_CALL_CLOSE &&
           o->call != B2I_CALL_DIR_SYNC && o->call != B2I_CALL_SYNC_ALL;
}

/* ---- loss of power ---- */

/* What has reached the medium for sure, and from where on calls have not. */
typedef struct medium {
    disk durable;
    size_t file_synced[MAX_FILES];
    size_t names_synced[1 + MAX_DIRS]; /* [0]: of the root, [1 + n]: of directory n */
} medium;

static inline int is_name_op(const op *o)
{
    return o->name != NONE && o->call != B2I_CALL_OPEN;
}

/* Everything before call i is on the medium; 'now' is the state then. */
static inline void medium_settle(medium *m, const disk *now, size_t i)
{
    disk_copy(&m->durable, now);
    for (int f = 0; f < MAX_FILES; f++) {
        m->file_synced[f] = i;
    }
    for (int k = 0; k <= MAX_DIRS; k++) {
        m->names_synced[k] = i;
    }
}

static inline void medium_sync(medium *m, const disk *now, int file, size_t i)
{
    file_copy(&m->durable.file[file], &now->file[file]);
    m->file_synced[file] = i;
}

/* Call number i has taken place; 'now' is the state after it. */
static inline void medium_follow(medium *m, const disk *now, size_t i)
{
    const op *o = &rec.v[i];
    if (o->call == B2I_CALL_SYNC) {
        medium_sync(m, now, o->file, i);
    } else if (o->call == B2I_CALL_SYNC_ALL) { /* names as well, on which nobody relies */
        for (int f = 0; f < rec.nfiles; f++) {
            medium_sync(m, now, f, i);
        }
    } else if (o->call == B2I_CALL_DIR_SYNC) {
        for (int name = 0; name < rec.nnames; name++) {
            if (dir_of(name) == o->dir) {
                m->durable.entry[name] = now->entry[name];
            }
        }
        m->names_synced[1 + o->dir] = i;
    }
}

/* A write or truncation reaches the medium sector by sector, each with probability odds / 8. */
static inline void lose_data(disk *lost, disk *cache, const op *o, unsigned odds, uint64_t *seed)
{
    apply_data(cache, o, o->n);
    const bytes *from = &cache->file[o->file];
    if (o->call != B2I_CALL_WRITE) {
        if (harness_random(seed) % 8 < odds) {
            apply_data(lost, o, o->n);
        }
        return;
    }
    for (uint64_t at = o->at / SECTOR * SECTOR; at < o->at + o->n; at += SECTOR) {
        if (harness_random(seed) % 8 < odds) {
            size_t n = from->n - at < SECTOR ? (size_t)(from->n - at) : SECTOR;
            file_write(&lost->file[o->file], at, from->p + at, n);
        }
    }
}

/* What may be on the medium when power fails before call 'end'; 'lost' and 'cache' are for use. */
static inline void lose_power(const medium *m, size_t end, disk *lost, disk *cache, uint64_t *seed)
{
    static const unsigned all_odds[] = { 1, 4, 7, 8 };
    unsigned odds = all_odds[harness_random(seed) % 4];
    size_t first = end;
    disk_copy(lost, &m->durable);
    disk_copy(cache, &m->durable);
    for (int k = 0; k <= MAX_DIRS; k++) {
        first = m->names_synced[k] < first ? m->names_synced[k] : first;
    }
    for (int f = 0; f < rec.nfiles; f++) {
        first = m->file_synced[f] < first ? m->file_synced[f] : first;
    }
    for (size_t i = first; i < end; i++) {
        const op *o = &rec.v[i];
        if (changes_disk(o) && o->file != NONE && i >= m->file_synced[o->file]) {
            lose_data(lost, cache, o, odds, seed);
        }
        if (is_name_op(o) && i >= m->names_synced[1 + dir_of(o->name)] &&
            harness_random(seed) % 8 < odds) {
            apply_name(lost, o);
        }
    }
}

/* ---- as files ---- */

/* Zeros are left out, so that holes stay holes. */
static inline void put_file(const char *path, const bytes *f)
{
    static const uint8_t zeros[PAGE];
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        perror(path);
        abort();
    }
    for (size_t at = 0; at < f->n; at += PAGE) {
        size_t n = f->n - at < PAGE ? f->n - at : PAGE;
        if (memcmp(f->p + at, zeros, n) != 0) {
            fseek(out, (long)at, SEEK_SET);
            fwrite(f->p + at, 1, n, out);
        }
    }
    fflush(out);
    if (ferror(out) || ftruncate(fileno(out), (off_t)f->n) != 0) {
        perror(path);
        abort();
    }
    fclose(out);
}

/* Makes the disk's directories and files below an empty directory. */
static inline void disk_put(const disk *d, const char *dir)
{
    char path[1024], place[MAX_DIRS][600] = { "" };
    for (int i = 0; i < rec.nnames; i++) {
        if (d->entry[i].dir != NONE) {
            print_path(place[d->entry[i].dir], sizeof place[0], "%s/%s", dir, rec.names[i]);
            (void)mkdir(place[d->entry[i].dir], 0777);
        }
    }
    for (int i = 0; i < rec.nnames; i++) {
        const int in = dir_of(i);
        if (d->entry[i].file != NONE && (in == NONE || place[in][0] != '\0')) {
            print_path(path, sizeof path, "%s/%s", in == NONE ? dir : place[in],
                       in == NONE ? rec.names[i] : rec.names[i] + 2);
            put_file(path, &d->file[d->entry[i].file]);
        }
    }
}

#endif
