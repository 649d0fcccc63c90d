/*
 * fuzz_repair.c: any bytes as a damaged frame or directory: whatever repair makes of it can be
 * opened, and every chunk of it decodes.  Input: as for fuzz_file.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "fuzz_place.h"

static char to_path[96];
static unsigned nnotes;
static bool has_odd_entry; /* repair then believes checksums that reading does not look at */

static int note(void *handle, const b2c_repair_note *note)
{
    FUZZ_REQUIRE(handle == &nnotes);
    FUZZ_REQUIRE(note->part >= B2C_PART_FRAME && note->part <= B2C_PART_ARRAY);
    FUZZ_REQUIRE(note->error->status != B2C_OK && note->error->status != B2C_E_INTERNAL);
    FUZZ_REQUIRE(note->error->what != NULL && note->error->what[0] != '\0');
    FUZZ_REQUIRE(note->nchunks == 0 || note->error->chunk >= 0);
    nnotes++;
    has_odd_entry =
        has_odd_entry || strstr(note->error->what, "of a kind that no writer makes") != NULL;
    return 0;
}

static int progress(void *handle, uint64_t done, uint64_t total)
{
    FUZZ_REQUIRE(handle == &nnotes && done <= total);
    return 0;
}

/* A chunk that nobody can check. */
static int is_excused(b2c_status status)
{
    return status == B2C_E_UNKNOWN_CODEC || status == B2C_E_UNKNOWN_FILTER;
}

/* Whether all chunks can be read, and are those of the array if there is one. */
static int is_sound(const char *path)
{
    b2c_limits limits = fuzz_limits();
    b2c_nd nd = { .size = sizeof nd };
    b2c_schunk_info info;
    b2c_chunk_info chunk;
    b2c_schunk *s = NULL;
    if (b2c_schunk_open(path, 0, B2C_OPEN_READ, &limits, &s, NULL) != B2C_OK) {
        return 0;
    }
    b2c_schunk_info_get(s, &info);
    b2c_status status = b2c_nd_from_schunk(s, &nd, NULL);
    int is_array = status == B2C_OK;
    int sound = is_array ? b2c_nd_nchunks(&nd) == info.nchunks : status == B2C_E_NOT_FOUND;
    for (uint64_t i = 0; sound && i < info.nchunks; i++) {
        int has_checksum;
        sound = b2c_schunk_chunk_info(s, i, &chunk, NULL) == B2C_OK &&
                (!is_array || chunk.nbytes == b2c_nd_chunksize(&nd)) &&
                b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, NULL) == B2C_OK;
    }
    b2c_schunk_free(s);
    return sound;
}

static void check(const b2c_repair_result *result)
{
    b2c_limits limits = fuzz_limits();
    b2c_schunk_info info;
    b2c_schunk *s = NULL;
    b2c_error err;
    b2c_status status = b2c_schunk_open(to_path, 0, B2C_OPEN_READ, &limits, &s, &err);
    FUZZ_REQUIRE(status == B2C_OK);
    b2c_schunk_info_get(s, &info);
    FUZZ_REQUIRE(info.nchunks == result->nchunks && result->nkept <= info.nchunks);
    for (uint64_t i = 0; i < info.nchunks; i++) {
        int has_checksum;
        status = b2c_schunk_verify_chunk(s, fuzz_ctx(), i, &has_checksum, &err);
        FUZZ_REQUIRE(status == B2C_OK || is_excused(status));
    }
    b2c_nd nd = { .size = sizeof nd };
    status = b2c_nd_from_schunk(s, &nd, &err);
    FUZZ_REQUIRE(status == B2C_OK || status == B2C_E_NOT_FOUND);
    b2c_schunk_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_place place;
    b2c_repair_params params;
    b2c_repair_result result;
    b2c_error err;
    b2c_limits limits = fuzz_limits();
    if (!fuzz_place_make(&place, "repair", data, n)) {
        return 0;
    }
    (void)snprintf(to_path, sizeof to_path, "%s.new", place.dir);
    b2c_repair_params_init(&params);
    params.storage = data[0] & 2 ? B2C_STORAGE_DIR : B2C_STORAGE_FILE;
    params.drop_lost = (data[0] & 4) != 0;
    params.limits = &limits;
    params.handle = &nnotes;
    params.note = note;
    params.progress = progress;
    nnotes = 0;
    has_odd_entry = false;
    int sound = is_sound(place.path);
    b2c_status status = b2c_repair(place.path, to_path, &params, &result, &err);
    fuzz_check_error(status, &err);
    if (status == B2C_OK) {
        FUZZ_REQUIRE(result.nlost == 0 || (nnotes > 0 && (!sound || has_odd_entry)));
        check(&result);
    } else {
        FUZZ_REQUIRE(access(to_path, F_OK) != 0);
    }
    fuzz_remove(to_path);
    fuzz_remove(place.dir);
    return 0;
}
