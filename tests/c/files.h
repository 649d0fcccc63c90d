/*
 * files.h: files and directories of tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef FILES_H
#define FILES_H

#include "harness.h"

#include <dirent.h>
#include <stdarg.h>
#include <unistd.h>

/* As snprintf() into an array of 'cap' bytes, which must be enough. */
static inline void print_path(char *out, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out, cap, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= cap) {
        fprintf(stderr, "a path is too long\n");
        abort();
    }
}

/* Removes a file, or a directory with all that is in it.  Returns 0 when it is gone. */
static inline int remove_path(const char *path)
{
    char name[1024];
    DIR *entries = unlink(path) == 0 ? NULL : opendir(path);
    if (entries == NULL) {
        return access(path, F_OK) == 0 ? -1 : 0;
    }
    const struct dirent *e;
    while ((e = readdir(entries)) != NULL) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            print_path(name, sizeof name, "%s/%s", path, e->d_name);
            (void)remove_path(name);
        }
    }
    closedir(entries);
    return rmdir(path);
}

static inline void copy_file(const char *from, const char *to)
{
    uint8_t buf[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;
    CHECK(in != NULL && out != NULL);
    while (in != NULL && out != NULL && (n = fread(buf, 1, sizeof buf, in)) > 0) {
        CHECK(fwrite(buf, 1, n, out) == n);
    }
    if (in != NULL) {
        fclose(in);
    }
    if (out != NULL) {
        fclose(out);
    }
}

/* A new directory, in memory when the machine has such a place. */
static inline void make_root(char *root, size_t cap)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL) {
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    print_path(root, cap, "%s/blosc2c-XXXXXX", tmp);
    if (mkdtemp(root) == NULL) {
        perror(root);
        abort();
    }
}

#endif
