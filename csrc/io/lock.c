/*
 * lock.c: the lock file beside a frame: 16 bytes, of which the last 8 count
 * (little-endian) how often somebody held it for writing.  The lock itself
 * is flock(2), as the reference library takes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* flock under -std=c99 */
#endif
#include "lock.h"
#include "alloc.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_LEN = 16, AT_COUNT = 8 };

typedef enum state { FREE, WANTED, HELD } state;

struct b2i_lock {
    int fd;    /* of this process; -1: none */
    pid_t pid; /* that opened it: what a forked process finds held, its parent holds */
    bool is_writable;
    bool is_inside;     /* a directory, which takes it along when it is replaced */
    bool gives_way;     /* see b2i_lock_give_way() */
    unsigned depth;     /* takes that were not released */
    uint64_t seen, now; /* the counter when the frame was last read, and now */
    /* What follows, and fd, changes under the lock of the list. */
    dev_t dev;
    ino_t ino;
    state state;
    bool is_exclusive; /* unless free */
    uint64_t place;    /* in the queue of those who gave way and look again, or 0; see stand() */
    int64_t until;     /* when that is over, unless it has looked again */
    bool asks_exclusive;
    b2i_hold owner;   /* who took it */
    b2i_hold *owners; /* who has it, when held */
    struct b2i_lock *next;
    char *path, *next_path; /* and where it is going to be, or NULL */
};

/* ---- all that this process has open ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static b2i_lock *opened;

static void hold_list(void)
{
    pthread_mutex_lock(&list_lock);
}

static void let_list_go(void)
{
    pthread_mutex_unlock(&list_lock);
}

/*
 * A lock lasts until nobody has the open file any more.  A forked process that kept those of its
 * parent would go on holding them when the parent is killed.
 */
static void after_fork_child(void)
{
    for (b2i_lock *l = opened; l != NULL; l = l->next) {
        if (l->fd >= 0) {
            (void)close(l->fd);
        }
        l->fd = -1;
        l->state = FREE;
        l->is_exclusive = false;
        l->place = 0;
    }
    let_list_go();
}

static void watch_forks(void)
{
    (void)pthread_atfork(hold_list, let_list_go, after_fork_child);
}

static void list_add(b2i_lock *l)
{
    pthread_once(&fork_once, watch_forks);
    hold_list();
    l->next = opened;
    opened = l;
    let_list_go();
}

static void list_remove(b2i_lock *l)
{
    hold_list();
    for (b2i_lock **p = &opened; *p != NULL; p = &(*p)->next) {
        if (*p == l) {
            *p = l->next;
            break;
        }
    }
    let_list_go();
}

static void set_held(b2i_lock *l)
{
    hold_list();
    l->state = HELD;
    l->place = 0;
    l->owner.thread = b2i_lock_thread();
    l->owners = &l->owner;
    let_list_go();
}

static void set_free(b2i_lock *l)
{
    hold_list();
    l->state = FREE;
    l->is_exclusive = false;
    let_list_go();
}

const void *b2i_lock_thread(void)
{
    static __thread char here;
    return &here;
}

void b2i_lock_add_hold(b2i_lock *l, b2i_hold **holds, b2i_hold *hold)
{
    hold_list();
    hold->thread = b2i_lock_thread();
    hold->next = *holds;
    *holds = hold;
    if (l != NULL) {
        l->owners = hold;
    }
    let_list_go();
}

bool b2i_lock_drop_hold(b2i_lock *l, b2i_hold **holds, b2i_hold *hold)
{
    hold_list();
    b2i_hold **at = holds;
    while (*at != NULL && *at != hold) {
        at = &(*at)->next;
    }
    bool is_there = *at != NULL;
    if (is_there) {
        *at = hold->next;
        if (l != NULL) {
            /* Nobody's, when it is given up next: who has taken it may have left long ago. */
            l->owners = *holds != NULL || l->depth == 1 ? *holds : &l->owner;
        }
    }
    let_list_go();
    return is_there;
}

static bool is_own(const b2i_lock *l)
{
    const b2i_hold *h = l->state == HELD ? l->owners : NULL;
    while (h != NULL && h->thread != b2i_lock_thread()) {
        h = h->next;
    }
    return h != NULL;
}

/*
 * Who gives way does not wait in flock(), where it would have a place, but looks again.  Those who
 * come later give way to it for so long: it may be kept from looking, or never do so again.
 */
enum { PLACE_NSEC = 50000000 };

static int64_t now_nsec(void)
{
    struct timespec t = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void stand(b2i_lock *l, bool exclusive)
{
    static uint64_t last;
    if (l->place == 0) {
        l->place = ++last;
    }
    l->asks_exclusive = exclusive;
    l->until = now_nsec() + PLACE_NSEC;
}

static bool came_first(const b2i_lock *h, const b2i_lock *l)
{
    return h->place != 0 && (l->place == 0 || h->place < l->place) && now_nsec() < h->until;
}

typedef enum who {
    NOBODY,
    WAITING, /* a thread that no other one has to wait for */
    ANOTHER,
    MYSELF
} who;

static who rival_of(const b2i_lock *h, const b2i_lock *l, bool exclusive)
{
    if (h == l || h->dev != l->dev || h->ino != l->ino) {
        return NOBODY;
    }
    if (h->state == FREE) {
        return (exclusive || h->asks_exclusive) && came_first(h, l) ? WAITING : NOBODY;
    }
    if (!exclusive && !h->is_exclusive) {
        return NOBODY;
    }
    if (h->state == WANTED && !h->gives_way) {
        return WAITING;
    }
    return is_own(h) ? MYSELF : ANOTHER;
}

/*
 * Which thread of this process has the file through another handle, or wants it and came first.
 * Who reads does not wait for those who wait for other readers: these may be waiting for it.
 */
static who find_rival(const b2i_lock *l, bool exclusive, bool *is_shared)
{
    who found = NOBODY;
    *is_shared = false;
    for (const b2i_lock *h = opened; h != NULL; h = h->next) {
        who rival = rival_of(h, l, exclusive);
        found = rival > found ? rival : found;
        *is_shared = *is_shared || (!exclusive && h != l && h->state == HELD && !h->is_exclusive &&
                                    h->dev == l->dev && h->ino == l->ino);
    }
    return found;
}

/* What to do about the lock, and on whose account not to wait for it. */
typedef enum way { WAIT, TRY, GIVE_WAY, FAIL } way;

/* Says that it is wanted to those who come later, unless it would be for ever. */
static way want(b2i_lock *l, bool exclusive)
{
    bool is_shared;
    way how = WAIT;
    hold_list();
    who rival = find_rival(l, exclusive, &is_shared);
    if (rival == MYSELF) {
        how = FAIL;
    } else if (rival != NOBODY && l->gives_way) {
        how = rival == WAITING && is_shared ? TRY : GIVE_WAY;
    }
    if (how == GIVE_WAY) {
        stand(l, exclusive);
    } else if (how != FAIL) {
        l->state = WANTED;
        l->is_exclusive = exclusive;
    }
    let_list_go();
    return how;
}

/* ---- the file ---- */

/* More bytes are of another file, which has the lock file's name as well: it is not written to. */
static bool is_lock_file(const struct stat *info)
{
    return S_ISREG(info->st_mode) && info->st_size <= LOCK_LEN;
}

/*
 * Opens the file at the path in place of the one that is open; nothing is known of its counter.
 * Returns 0 or an errno: nothing has happened then.
 */
static int open_file(b2i_lock *l, bool creates)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK;
    struct stat info;
    int fd = b2i_fs_open_at(B2I_FS_CWD, l->path, flags | O_RDWR | (creates ? O_CREAT : 0));
    if (fd < 0 && !l->is_writable && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        fd = b2i_fs_open_at(B2I_FS_CWD, l->path, flags | O_RDONLY);
    }
    bool is_known = fd >= 0 && fstat(fd, &info) == 0;
    if (!is_known || !is_lock_file(&info)) {
        int why = is_known ? EINVAL : errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return why;
    }
    hold_list();
    int before = l->fd;
    l->fd = fd;
    l->dev = info.st_dev;
    l->ino = info.st_ino;
    let_list_go();
    if (before >= 0) {
        (void)close(before); /* which gives up its lock */
    }
    l->pid = getpid();
    l->seen = UINT64_MAX;
    return 0;
}

static b2c_status fail_open(b2c_error *err, int why)
{
    return b2i_fs_fail_left(err, why, "opening the lock file (.b2lock) failed");
}

/* Whether the file that is open is the one at the path. */
static bool is_at_path(const b2i_lock *l)
{
    struct stat info;
    return lstat(l->path, &info) == 0 && info.st_dev == l->dev && info.st_ino == l->ino;
}

/*
 * The path of the lock file, to be freed: the frame's as it is given, for so the reference library
 * names it, also through a symbolic link.
 */
static b2c_status name_lock(const char *path, bool is_dir, char **out, b2c_error *err)
{
    const char *suffix = is_dir ? "/" B2I_LOCK_NAME : B2I_LOCK_NAME;
    char *name;
    B2I_TRY(b2i_fs_absolute_path(path, &name, err));
    size_t n = strlen(name), nsuffix = strlen(suffix) + 1;
    char *whole = b2i_malloc(n + nsuffix);
    if (whole != NULL) {
        memcpy(whole, name, n);
        memcpy(whole + n, suffix, nsuffix);
    }
    b2i_free(name);
    *out = whole;
    return whole == NULL ? b2i_fail_memory(err) : B2C_OK;
}

b2c_status b2i_lock_open(const char *path, bool is_dir, bool is_writable, b2i_lock **out,
                         b2c_error *err)
{
    char *name;
    B2I_TRY(name_lock(path, is_dir, &name, err));
    b2i_lock *l = b2i_calloc(sizeof *l);
    if (l == NULL) {
        b2i_free(name);
        return b2i_fail_memory(err);
    }
    l->path = name;
    l->fd = -1;
    list_add(l);
    l->is_writable = is_writable;
    l->is_inside = is_dir;
    int why = open_file(l, true);
    if (why != 0) {
        bool is_fixed = why == ENOENT || why == EACCES || why == EROFS;
        b2i_lock_close(l);
        *out = NULL;
        if (is_fixed && !is_writable) {
            return B2C_OK; /* a place that nobody can write to */
        }
        return fail_open(err, why);
    }
    *out = l;
    return B2C_OK;
}

b2c_status b2i_lock_will_move(b2i_lock *l, const char *path, b2c_error *err)
{
    return name_lock(path, true, &l->next_path, err);
}

void b2i_lock_moved(b2i_lock *l)
{
    b2i_free(l->path);
    l->path = l->next_path;
    l->next_path = NULL;
}

void b2i_lock_close(b2i_lock *l)
{
    if (l != NULL) {
        while (l->depth > 0) {
            b2i_lock_release(l);
        }
        list_remove(l);
        if (l->fd >= 0) {
            (void)close(l->fd);
        }
        b2i_free(l->path);
        b2i_free(l->next_path);
        b2i_free(l);
    }
}

/* ---- the lock ---- */

void b2i_lock_give_way(b2i_lock *l)
{
    l->gives_way = true;
}

bool b2i_lock_has_rival(b2i_lock *l)
{
    bool is_shared;
    hold_list();
    who rival = l->depth == 0 ? find_rival(l, true, &is_shared) : NOBODY;
    bool has_rival = rival == WAITING || rival == ANOTHER;
    if (has_rival) {
        stand(l, true);
    }
    let_list_go();
    return has_rival;
}

static void give_up(b2i_lock *l)
{
    l->depth = 0;
    set_free(l);
}

/* What was taken before a fork belongs to the parent: this process opens the file itself. */
static b2c_status after_fork(b2i_lock *l, b2c_error *err)
{
    if (l->pid == getpid()) {
        return B2C_OK;
    }
    int why = open_file(l, true); /* the parent may have gone on writing without counting again */
    if (why != 0) {
        return fail_open(err, why);
    }
    give_up(l);
    return B2C_OK;
}

/* What the file has of its bytes.  Returns 0 or an errno, as the next. */
static int read_bytes(int fd, uint8_t bytes[LOCK_LEN])
{
    ssize_t n = 1;
    for (size_t at = 0; at < LOCK_LEN && n != 0; at += n > 0 ? (size_t)n : 0) {
        n = pread(fd, bytes + at, LOCK_LEN - at, (off_t)at);
        if (n < 0 && errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int write_bytes(int fd, const uint8_t bytes[LOCK_LEN])
{
    ssize_t n;
    for (size_t at = 0; at < LOCK_LEN; at += n > 0 ? (size_t)n : 0) {
        n = pwrite(fd, bytes + at, LOCK_LEN - at, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return n == 0 ? EIO : errno;
        }
    }
    return 0;
}

/* Reads the counter; who holds the lock exclusively tells the others that things may change. */
static b2c_status count(b2i_lock *l, b2c_error *err)
{
    uint8_t bytes[LOCK_LEN] = { 0 };
    int why = read_bytes(l->fd, bytes);
    if (why != 0) {
        return b2i_fail_io(err, why, B2C_NO_OFFSET, "reading the lock file failed");
    }
    l->now = b2i_ld64le(bytes + AT_COUNT);
    if (!l->is_exclusive) {
        return B2C_OK;
    }
    b2i_st64le(bytes + AT_COUNT, l->now + 1);
    why = write_bytes(l->fd, bytes);
    return why == 0 ? B2C_OK : b2i_fail_io(err, why, B2C_NO_OFFSET, "writing the lock file failed");
}

static b2c_status fail_rival(b2c_error *err)
{
    (void)b2i_fail(err, B2C_E_LOCKED, B2C_NO_OFFSET,
                   "another thread holds the lock through another handle");
    if (err != NULL) {
        err->sys_errno = EAGAIN;
    }
    return B2C_E_LOCKED;
}

static b2c_status wait_for(b2i_lock *l, bool exclusive, b2c_error *err)
{
    way how = want(l, exclusive);
    if (how == FAIL) {
        return b2i_fail(err, B2C_E_LOCKED, B2C_NO_OFFSET,
                        "this thread holds the lock through another handle");
    }
    if (how == GIVE_WAY) {
        return fail_rival(err);
    }
    if (flock(l->fd, (exclusive ? LOCK_EX : LOCK_SH) | (how == TRY ? LOCK_NB : 0)) == 0) {
        return B2C_OK;
    }
    if (how == TRY && errno == EWOULDBLOCK) { /* the other reader has just left */
        return fail_rival(err);
    }
    if (errno == EINTR) {
        return b2i_fail_io(err, EINTR, B2C_NO_OFFSET, "a signal came while waiting for the lock");
    }
    return b2i_fail_io(err, errno, B2C_NO_OFFSET, "locking failed");
}

/*
 * Whether nobody has the file that is open any more, so that one may be made at the path.  One that
 * has only been moved is in a directory that is about to be replaced: its frame is still the last
 * whole one.
 */
static bool is_lost(const b2i_lock *l)
{
    struct stat info;
    return l->is_inside && fstat(l->fd, &info) == 0 && info.st_nlink == 0;
}

/* The same for the file at the path, when that is another one meanwhile. */
static b2c_status wait_for_present(b2i_lock *l, bool exclusive, b2c_error *err)
{
    enum { MAX_TRIES = 16 };
    B2I_TRY(wait_for(l, exclusive, err));
    for (int i = 0; i < MAX_TRIES && !is_at_path(l); i++) {
        int why = open_file(l, is_lost(l));
        if (why == ENOENT) {
            return B2C_OK; /* there is none that others could hold */
        }
        if (why != 0) {
            (void)flock(l->fd, LOCK_UN);
            return fail_open(err, why);
        }
        B2I_TRY(wait_for(l, exclusive, err));
    }
    return B2C_OK;
}

b2c_status b2i_lock_take(b2i_lock *l, bool exclusive, bool *changed, b2c_error *err)
{
    B2I_TRY(after_fork(l, err));
    *changed = false;
    if (l->depth > 0) {
        if (exclusive && !l->is_exclusive) {
            return b2i_fail(err, B2C_E_ARGUMENT, B2C_NO_OFFSET,
                            "the lock is held for reading: release it first");
        }
        l->depth++;
        return B2C_OK;
    }
    b2c_status st = wait_for_present(l, exclusive, err);
    if (st == B2C_OK) {
        st = count(l, err);
        if (st != B2C_OK) {
            (void)flock(l->fd, LOCK_UN);
        }
    }
    if (st != B2C_OK) {
        set_free(l);
        return st;
    }
    l->depth = 1;
    set_held(l);
    *changed = l->now != l->seen;
    if (!*changed) {
        b2i_lock_seen(l);
    }
    return B2C_OK;
}

void b2i_lock_seen(b2i_lock *l)
{
    l->seen = l->now + (l->is_exclusive ? 1 : 0);
}

void b2i_lock_release(b2i_lock *l)
{
    if (l->depth > 1) {
        l->depth--;
    } else if (l->depth == 1) {
        give_up(l);
        if (l->pid == getpid()) { /* else it is the parent's */
            (void)flock(l->fd, LOCK_UN);
        }
    }
}

bool b2i_lock_is_last(const b2i_lock *l)
{
    return l->depth == 1;
}
