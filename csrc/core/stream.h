/*
 * stream.h: copying and writing large results.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A store that misses the caches first reads the line that it writes.  For results that the caches
 * could not keep anyway, streaming stores save that half of the traffic, and leave the
 * caches to what is still needed.
 */
#ifndef B2I_STREAM_H
#define B2I_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether streaming n bytes to dst pays: there are many, and their memory was written before.
 * New pages are cleared when they are first written, through the caches, which
 * should not be followed by stores past them.
 */
bool b2i_stream_pays(const uint8_t *dst, uint64_t n);

/* As memcpy(); other threads see the bytes after b2i_stream_end(). */
void b2i_stream_copy(uint8_t *dst, const uint8_t *src, size_t n);
void b2i_stream_end(void);

/*
 * As memcpy(), in pieces.  C libraries copy what is larger than a cache in another way, which is
 * slower where that is still in the next one: glibc on AMD processors 1 MB at 56 GB/s instead of
 * 67, 64 MB at 22 instead of 26.
 */
void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n);

#endif
