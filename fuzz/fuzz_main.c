/*
 * fuzz_main.c: replays files through a fuzz target without a fuzzing engine.
 * Arguments are files or directories (not searched recursively), and before them one of:
 *   --guard   the input ends where a page begins that nobody may touch
 *   --alloc   again and again, the first, second, … allocation of the library failing
 *   --mutate  what the mutator makes of each input; always the same
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "alloc.h"
#include "fuzz.h"
#include "mutate.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NMUTATED = 32, NCHANGES = 4, ROOM = 4096 };

static const char *const modes[] = { "", "--guard", "--alloc", "--mutate" };
static enum { PLAIN, GUARD, ALLOC, MUTATE, NMODES } mode;
static size_t nfiles, nruns;
static uint64_t failing; /* number of the allocation that fails, or 0 */

int fuzz_is_excused(void)
{
    return failing != 0 && b2i_alloc_count() >= failing;
}

/* The bytes in a block of exactly their size, so that a sanitizer sees every overrun. */
static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        bytes = malloc(size == 0 ? 1 : (size_t)size);
    }
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    (void)fclose(file);
    *n = (size_t)size;
    return bytes;
}

static void run(const uint8_t *bytes, size_t n)
{
    (void)LLVMFuzzerTestOneInput(bytes, n);
    nruns++;
}

static void run_at_guard(const uint8_t *bytes, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
    uint8_t *p =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(2);
    }
    memcpy(p + room - n, bytes, n);
    run(p + room - n, n);
    (void)munmap(p, room + page);
}

/* Each of the first allocations, then fewer and fewer of them. */
static void run_without_memory(const uint8_t *bytes, size_t n)
{
    bool reached = true;
    run(bytes, n); /* what targets keep from input to input is made without failures */
    for (failing = 1; reached; failing += 1 + failing / 8) {
        b2i_alloc_fail_at(failing, false);
        run(bytes, n);
        reached = fuzz_is_excused();
        b2i_alloc_fail_at(0, false);
    }
    failing = 0;
}

/* Up to so many changes on top of each other.  Depends on the input alone. */
static void run_mutated(const uint8_t *bytes, size_t n)
{
    size_t cap = n + ROOM, len = n;
    uint8_t *p = fuzz_alloc(cap);
    for (unsigned i = 0; i < NMUTATED; i++) {
        if (i % NCHANGES == 0) {
            memcpy(p, bytes, n);
            len = n;
        }
        len = LLVMFuzzerCustomMutator(p, len, cap, (unsigned)n * NMUTATED + i);
        FUZZ_REQUIRE(len <= cap);
        uint8_t *exact = fuzz_alloc(len);
        memcpy(exact, p, len);
        run(exact, len);
        free(exact);
    }
    free(p);
}

static void replay_file(const char *path)
{
    size_t n = 0;
    uint8_t *bytes = read_file(path, &n);
    switch (mode) {
    case GUARD:
        run_at_guard(bytes, n);
        break;
    case ALLOC:
        run_without_memory(bytes, n);
        break;
    case MUTATE:
        run_mutated(bytes, n);
        break;
    default:
        run(bytes, n);
        break;
    }
    free(bytes);
    nfiles++;
}

static void replay_dir(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char name[4096];
        int len = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        struct stat st;
        if (len < (int)sizeof name && stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
            replay_file(name);
        }
    }
    (void)closedir(dir);
}

int main(int argc, char **argv)
{
    int i = 1;
    if (argc > 1 && strncmp(argv[1], "--", 2) == 0) {
        for (mode = GUARD; mode < NMODES && strcmp(argv[1], modes[mode]) != 0;) {
            mode++;
        }
        if (mode == NMODES) {
            fprintf(stderr, "%s: unknown option\n", argv[1]);
            return 2;
        }
        i++;
    }
    for (; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            return 2;
        }
        if (S_ISDIR(st.st_mode)) {
            replay_dir(argv[i]);
        } else {
            replay_file(argv[i]);
        }
    }
    printf("%zu inputs replayed, %zu runs\n", nfiles, nruns);
    return nfiles == 0;
}
