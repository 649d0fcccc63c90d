/*
 * test_bitflips.c: every single-byte change of a small frame is reported, or changes nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "world.h"

enum { MAX_FRAME = 1 << 14 };

static const scenario kinds[] = {
    { .name = "plain", .steps = { CREATE, APPEND, APPEND, VLMETA_SET, CLOSE } },
    { .name = "mixed",
      .steps = { CREATE, APPEND, FILL_VALUE, APPEND_ZEROS, UPDATE_SHORT, META, VLMETA_SET,
                 VLMETA_GROW, DELETE, CLOSE } },
    { .name = "specials", .steps = { CREATE, FILL, FILL_VALUE, CLOSE } },
    { .name = "empty", .steps = { CREATE, VLMETA_SET, CLOSE } },
    { .name = "reused",
      .steps = { CREATE, APPEND, APPEND, UPDATE, UPDATE, UPDATE, UPDATE, DELETE, APPEND, REORDER,
                 CLOSE } },
};

static char root[256], path[300];
static unsigned long nchanges, nreported;

/* 1: as it was; 0: something else, and nothing was reported. */
static int is_sound(b2c_status opened, b2c_schunk *s, b2c_ctx *ctx, const content *expected)
{
    content found = { { 0 }, 0 };
    b2c_error err = { 0 };
    b2c_status st = opened != B2C_OK ? opened : content_of(s, ctx, &found, &err);
    int good = st != B2C_OK || content_equal(&found, expected);
    nchanges++;
    nreported += st != B2C_OK;
    b2c_schunk_free(s);
    content_free(&found);
    return good;
}

static size_t read_file(const char *name, uint8_t *out)
{
    FILE *f = fopen(name, "rb");
    size_t n = f == NULL ? 0 : fread(out, 1, MAX_FRAME, f);
    if (f == NULL || n == MAX_FRAME) {
        perror(name);
        abort();
    }
    fclose(f);
    return n;
}

/* All 255 changes of each byte of a frame in memory. */
static void change_memory(const char *name, const uint8_t *frame, size_t n, b2c_ctx *ctx,
                          const content *expected)
{
    uint8_t *copy = need(malloc(n));
    memcpy(copy, frame, n);
    for (size_t i = 0; i < n; i++) {
        for (unsigned change = 1; change < 256; change++) {
            b2c_schunk *s = NULL;
            copy[i] = (uint8_t)(frame[i] ^ change);
            b2c_status st = b2c_schunk_open_mem(copy, n, 0, NULL, &s, NULL);
            if (!is_sound(st, s, ctx, expected)) {
                fprintf(stderr, "%s: byte %lu from %02x to %02x: other data, no error\n", name,
                        (unsigned long)i, frame[i], copy[i]);
                harness_failures++;
                break;
            }
        }
        copy[i] = frame[i];
        harness_checks++;
    }
    free(copy);
}

/* Each bit, and all of them, of each byte of a file below or at 'path'. */
static void change_file(const char *file, b2c_ctx *ctx, const content *expected)
{
    static uint8_t bytes_of[MAX_FRAME];
    size_t n = read_file(file, bytes_of);
    FILE *f = fopen(file, "r+b");
    CHECK(f != NULL);
    for (size_t i = 0; f != NULL && i < n; i++) {
        for (unsigned bit = 0; bit <= 8; bit++) {
            b2c_schunk *s = NULL;
            unsigned change = bit == 8 ? 0xFF : 1u << bit;
            fseek(f, (long)i, SEEK_SET);
            fputc((int)(bytes_of[i] ^ change), f);
            fflush(f);
            b2c_status st = b2c_schunk_open(path, 0, B2C_OPEN_READ, NULL, &s, NULL);
            if (!is_sound(st, s, ctx, expected)) {
                fprintf(stderr, "%s: byte %lu ^ %02x: other data, no error\n", file,
                        (unsigned long)i, change);
                harness_failures++;
            }
        }
        fseek(f, (long)i, SEEK_SET);
        fputc(bytes_of[i], f);
        harness_checks++;
    }
    if (f != NULL) {
        fclose(f);
    }
}

static void run(const scenario *kind, uint8_t storage)
{
    static uint8_t frame[MAX_FRAME];
    content expected = { { 0 }, 0 };
    world w;
    world_init(&w, kind, path, storage, B2C_DURABILITY_PROCESS);
    for (int i = 0; kind->steps[i] != END; i++) {
        CHECK_EQ(world_step(&w, kind->steps[i]), B2C_OK);
    }
    CHECK_EQ(world_open(&w), B2C_OK);
    CHECK_EQ(content_of(w.s, w.ctx, &expected, NULL), B2C_OK);
    b2c_schunk_free(w.s);
    w.s = NULL;
    if (storage == B2C_STORAGE_FILE) {
        change_memory(kind->name, frame, read_file(path, frame), w.ctx, &expected);
        change_file(path, w.ctx, &expected);
    } else {
        const struct dirent *e;
        DIR *dir = opendir(path);
        while (dir != NULL && (e = readdir(dir)) != NULL) {
            char name[600];
            print_path(name, sizeof name, "%s/%s", path, e->d_name);
            if (e->d_name[0] != '.') {
                change_file(name, w.ctx, &expected);
            }
        }
        CHECK(dir != NULL && closedir(dir) == 0);
    }
    content_free(&expected);
    world_free(&w);
    remove_path(path);
}

int main(void)
{
    make_root(root, sizeof root);
    print_path(path, sizeof path, "%s/live.b2frame", root);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        run(&kinds[i], B2C_STORAGE_FILE);
        run(&kinds[i], B2C_STORAGE_DIR);
    }
    remove_path(root);
    printf("%lu changes, %lu reported\n", nchanges, nreported);
    CHECK(nreported > nchanges / 2);
    return RESULT();
}
