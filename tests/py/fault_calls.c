/*
 * fault_calls.c: preloaded into Python, lets the n-th call that the package makes fail, or kills.
 *
 * Calls are those of code within fault_range(), for I/O also those of Python itself, while it is
 * armed.  Memory that the range has taken and nobody has given back is counted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEMORY = -1, SHORT = -2, KILL = -3 };

static uintptr_t from, to;
static int armed, kind, lasts;
static unsigned long at, count, fired;
static char last[32];

void fault_range(uintptr_t first, uintptr_t end)
{
    from = first;
    to = end;
}

void fault_arm(int what, unsigned long n, int for_good)
{
    kind = what;
    at = n;
    lasts = for_good;
    count = fired = 0;
    last[0] = 0;
    armed = 1;
}

unsigned long fault_disarm(void)
{
    armed = 0;
    return fired;
}

unsigned long fault_count(void)
{
    return count;
}

const char *fault_last(void)
{
    return last;
}

static int is_ours(void *caller)
{
    return (uintptr_t)caller >= from && (uintptr_t)caller < to;
}

/* Whether this call, the next of its kind, is one to fail. */
static int strikes(const char *name)
{
    unsigned long n = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (at == 0 || n < at || (n > at && !lasts)) {
        return 0;
    }
    fired++;
    strncpy(last, name, sizeof last - 1);
    return 1;
}

/* ---- memory ---- */

enum { NLIVE = 1 << 20 };
static void *live[NLIVE];
static long nlive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t slot_of(const void *p)
{
    return (size_t)(((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15u >> 44);
}

static void *note(void *p)
{
    if (p != NULL) {
        pthread_mutex_lock(&lock);
        size_t i = slot_of(p);
        while (live[i] != NULL && live[i] != (void *)1) {
            i = (i + 1) % NLIVE;
        }
        live[i] = p;
        nlive++;
        pthread_mutex_unlock(&lock);
    }
    return p;
}

static int forget(void *p)
{
    int found = 0;
    if (p != NULL && from != 0) {
        pthread_mutex_lock(&lock);
        for (size_t i = slot_of(p); live[i] != NULL && !found; i = (i + 1) % NLIVE) {
            if (live[i] == p) {
                live[i] = live[(i + 1) % NLIVE] == NULL ? NULL : (void *)1;
                nlive--;
                found = 1;
            }
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}

long fault_live(void)
{
    return nlive;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t m, size_t n);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

#define NO_MEMORY(name) (armed && kind == MEMORY && strikes(name))
#define OURS            (from != 0 && is_ours(__builtin_return_address(0)))

void *malloc(size_t n)
{
    if (!OURS) {
        return __libc_malloc(n);
    }
    return NO_MEMORY("malloc") ? NULL : note(__libc_malloc(n));
}

void *calloc(size_t m, size_t n)
{
    if (!OURS) {
        return __libc_calloc(m, n);
    }
    return NO_MEMORY("calloc") ? NULL : note(__libc_calloc(m, n));
}

void *realloc(void *p, size_t n)
{
    int ours = OURS;
    if (ours && NO_MEMORY("realloc")) {
        return NULL;
    }
    int known = forget(p);
    void *new = __libc_realloc(p, n);
    if (new == NULL && known && n != 0) {
        note(p);
    }
    return ours || known ? note(new) : new;
}

int posix_memalign(void **p, size_t align, size_t n)
{
    int ours = OURS;
    if (ours && NO_MEMORY("posix_memalign")) {
        return ENOMEM;
    }
    *p = __libc_memalign(align, n);
    if (ours) {
        note(*p);
    }
    return *p == NULL ? ENOMEM : 0;
}

void free(void *p)
{
    forget(p);
    __libc_free(p);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) {
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    }
    return OURS && NO_MEMORY("pthread_create") ? EAGAIN : real(t, a, f, arg);
}

/* ---- files ---- */

/* Calls that change what is stored; only these kill. */
static int changes(const char *name)
{
    return strstr("pwrite ftruncate rename link unlink mkdir fsync", name) != NULL;
}

static int may_be_interrupted(const char *name)
{
    return strstr("open pread pwrite ftruncate fsync close flock", name) != NULL;
}

/* Nonzero: errno is set, the call is to return -1. */
static int fails(const char *name)
{
    if (!armed || kind == MEMORY || kind == SHORT) {
        return 0;
    }
    if (kind == KILL) {
        if (changes(name) && strikes(name)) {
            _exit(77);
        }
        return 0;
    }
    if ((kind == EINTR && !may_be_interrupted(name)) ||
        (kind == EMFILE && strcmp(name, "open") != 0) || !strikes(name)) {
        return 0;
    }
    errno = kind;
    return 1;
}

#define REAL(result, name, ...)                                                                    \
    static result (*real)(__VA_ARGS__);                                                            \
    if (real == NULL) {                                                                            \
        real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);                                    \
    }

#define MODE_OF_NEW                                                                                \
    int mode = 0;                                                                                  \
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) {                                          \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode = va_arg(args, int);                                                                  \
        va_end(args);                                                                              \
    }

int openat64(int dir, const char *path, int flags, ...)
{
    MODE_OF_NEW
    REAL(int, openat64, int, const char *, int, int)
    return fails("open") ? -1 : real(dir, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE_OF_NEW
    REAL(int, open64, const char *, int, int)
    return fails("open") ? -1 : real(path, flags, mode);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t where)
{
    REAL(ssize_t, pread64, int, void *, size_t, off64_t)
    if (fails("pread")) {
        return -1;
    }
    if (armed && kind == SHORT && n > 1 && strikes("pread")) {
        n /= 2;
    }
    return real(fd, p, n, where);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t where)
{
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
    if (fails("pwrite")) {
        return -1;
    }
    if (armed && kind == SHORT && n > 1 && strikes("pwrite")) {
        n /= 2;
    }
    return real(fd, p, n, where);
}

int fsync(int fd)
{
    REAL(int, fsync, int)
    return fails("fsync") ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t n)
{
    REAL(int, ftruncate64, int, off64_t)
    return fails("ftruncate") ? -1 : real(fd, n);
}

int close(int fd)
{
    REAL(int, close, int)
    int failed = fails("close"), why = errno, result = real(fd);
    errno = failed ? why : errno;
    return failed ? -1 : result;
}

int rename(const char *a, const char *b)
{
    REAL(int, rename, const char *, const char *)
    return fails("rename") ? -1 : real(a, b);
}

int renameat(int d, const char *a, int e, const char *b)
{
    REAL(int, renameat, int, const char *, int, const char *)
    return fails("rename") ? -1 : real(d, a, e, b);
}

int link(const char *a, const char *b)
{
    REAL(int, link, const char *, const char *)
    return fails("link") ? -1 : real(a, b);
}

int unlinkat(int d, const char *a, int flags)
{
    REAL(int, unlinkat, int, const char *, int)
    return fails("unlink") ? -1 : real(d, a, flags);
}

int unlink(const char *a)
{
    REAL(int, unlink, const char *)
    return fails("unlink") ? -1 : real(a);
}

int rmdir(const char *a)
{
    REAL(int, rmdir, const char *)
    return fails("unlink") ? -1 : real(a);
}

int mkdir(const char *a, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t)
    return fails("mkdir") ? -1 : real(a, mode);
}

int chmod(const char *a, mode_t mode)
{
    REAL(int, chmod, const char *, mode_t)
    return fails("chmod") ? -1 : real(a, mode);
}

int fstat64(int fd, struct stat64 *info)
{
    REAL(int, fstat64, int, struct stat64 *)
    return fails("fstat") ? -1 : real(fd, info);
}

int stat64(const char *path, struct stat64 *info)
{
    REAL(int, stat64, const char *, struct stat64 *)
    return OURS && fails("stat") ? -1 : real(path, info);
}

int lstat64(const char *path, struct stat64 *info)
{
    REAL(int, lstat64, const char *, struct stat64 *)
    return OURS && fails("lstat") ? -1 : real(path, info);
}

int fstatat64(int dir, const char *path, struct stat64 *info, int flags)
{
    REAL(int, fstatat64, int, const char *, struct stat64 *, int)
    return fails("fstatat") ? -1 : real(dir, path, info, flags);
}

DIR *fdopendir(int fd)
{
    REAL(DIR *, fdopendir, int)
    return fails("fdopendir") ? NULL : real(fd);
}

struct dirent64 *readdir64(DIR *d)
{
    REAL(struct dirent64 *, readdir64, DIR *)
    return OURS && fails("readdir") ? NULL : real(d);
}

int flock(int fd, int how)
{
    REAL(int, flock, int, int)
    return fails("flock") ? -1 : real(fd, how);
}

char *realpath(const char *path, char *out)
{
    REAL(char *, realpath, const char *, char *)
    return OURS && fails("realpath") ? NULL : real(path, out);
}

char *getcwd(char *out, size_t n)
{
    REAL(char *, getcwd, char *, size_t)
    return fails("getcwd") ? NULL : real(out, n);
}

void *mmap64(void *p, size_t n, int prot, int flags, int fd, off64_t where)
{
    REAL(void *, mmap64, void *, size_t, int, int, int, off64_t)
    if (OURS && ((flags & MAP_ANONYMOUS) ? NO_MEMORY("mmap") : fails("mmap"))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(p, n, prot, flags, fd, where);
}

long syscall(long number, ...)
{
    REAL(long, syscall, long, long, long, long, long, long, long)
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    if (OURS && number == SYS_renameat2 && fails("rename")) {
        return -1;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
