/*
 * legacy.h: frames of August 2019 to February 2021, which are read and never written; private to
 * csrc/frame.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_LEGACY_H
#define B2I_LEGACY_H

#include "frame.h"

/* The fixed part of a header. */
typedef struct b2i_legacy_head {
    b2i_frame_head head; /* frame_len is as stored: some writers did not keep it up to date */
    size_t metas_at;     /* the section of metalayers; 0: there is none */
    uint8_t version;     /* 0 to 2 */
    bool has_wide_index; /* entries of 128 bits */
    bool has_filters;    /* the header tells them; else only the chunks know */
} b2i_legacy_head;

/* Whether these bytes, of which the first 10 matter, begin a frame of that time. */
bool b2i_legacy_is(b2i_span bytes);

/* Parses the first 82 bytes, or all of a shorter frame. */
b2c_status b2i_legacy_head_parse(b2i_span bytes, b2i_legacy_head *out, b2c_error *err);

/* Length of a trailer with user metadata from its first bytes; 0 when it is none. */
enum { B2I_USERMETA_AT = 7 };
uint64_t b2i_legacy_trailer_len(b2i_span first);

/* What follows the index. */
typedef struct b2i_legacy_trailer {
    uint32_t len;      /* of the kind with user metadata, else 0 */
    b2i_span usermeta; /* a chunk, or empty */
    bool has_vlmetas;  /* of the kind that current frames have */
} b2i_legacy_trailer;

/* Parses what is at the place of a trailer; other bytes may follow it. */
b2i_legacy_trailer b2i_legacy_trailer_parse(b2i_span bytes);

/* The filters in the content of the metalayer "_filter_pipeline"; false when it tells none. */
bool b2i_legacy_filters_parse(b2i_span content, b2c_cparams *cparams);

/* As b2i_frame_load(); 'first' are the first 82 bytes or more, or all of a shorter frame. */
b2c_status b2i_legacy_load(const b2i_frame_source *f, b2i_span first, uint8_t frame_type,
                           b2c_schunk *s, b2i_frame_layout *layout, b2c_error *err);

/* With the store in place: what only the chunks tell. */
b2c_status b2i_legacy_settle(b2c_schunk *s, b2c_error *err);

#endif
