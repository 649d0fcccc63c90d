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
 * As memcpy(), for what is large in the way that the processor does best.  glibc on AMD processors
 * copies more than a few kB with one instruction.  Up to Zen 4 it takes, between some addresses,
 * 1.1 to 1.25 times as long as a loop for 1 MB and 2.5 times for 16 MB.  On Zen 5 it is the
 * fastest way (256 kB in .7 of the loop's time, 1 MB in .92), where glibc has a loop from 1 MB on.
 * Prefetching takes the loop on Intel processors from .81 to .94 of glibc's speed to 1.0, and on
 * Zen 4 to .8.
 */
void b2i_copy(uint8_t *dst, const uint8_t *src, size_t n);

/* The three ways, for b2i_copy() and tests. */
void b2i_copy_by_lines(uint8_t *dst, const uint8_t *src, size_t n);
void b2i_copy_prefetching(uint8_t *dst, const uint8_t *src, size_t n);
void b2i_copy_by_string(uint8_t *dst, const uint8_t *src, size_t n);

#endif
