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
 * As memcpy(), where the C library is slow: glibc on AMD processors copies what is larger than a
 * few kB with an instruction that, between some addresses, takes 1.1 to 1.25 times as long for 1 MB
 * and 2.5 times for 16 MB.
 */
void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n);

#endif
