/*
 * fuzz_main.c: replays files through a fuzz target without a fuzzing engine.
 * Arguments are files or directories (not searched recursively).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t nfiles;

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

static void replay_file(const char *path)
{
    size_t n = 0;
    uint8_t *bytes = read_file(path, &n);
    (void)LLVMFuzzerTestOneInput(bytes, n);
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
    for (int i = 1; i < argc; i++) {
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
    printf("%zu inputs replayed\n", nfiles);
    return nfiles == 0;
}
