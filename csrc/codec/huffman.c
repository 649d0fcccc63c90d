/*
 * huffman.c: code lengths and codes of deflate.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "huffman.h"

#include "bytes.h"

#include <string.h>

/* A symbol that occurs: its frequency, and the symbol in the low bits, so that no two are equal. */
typedef uint32_t leaf;
enum { SYM_BITS = 9, SYM_MASK = (1 << SYM_BITS) - 1 };

/*
 * Sorts by frequency, 8 bits at a time; 'tmp' has room for as many.  Many are as frequent: the two
 * halves have counts of their own, as one would wait for the other.
 */
static void sort_leaves(leaf *leaves, unsigned n, leaf *tmp)
{
    const unsigned half = n / 2;
    leaf max = 0;
    for (unsigned i = 0; i < n; i++) {
        max = leaves[i] > max ? leaves[i] : max;
    }
    for (unsigned shift = SYM_BITS; shift < 32 && max >> shift != 0; shift += 8) {
        const unsigned last = max >> shift < 255 ? max >> shift : 255; /* no digit is larger */
        uint16_t counts[256][2] = { { 0 } };
        for (unsigned i = 0; i < half; i++) {
            counts[leaves[i] >> shift & 255][0]++;
            counts[leaves[half + i] >> shift & 255][1]++;
        }
        if (n % 2 != 0) {
            counts[leaves[n - 1] >> shift & 255][1]++;
        }
        unsigned at = 0;
        for (unsigned i = 0; i <= last; i++) {
            for (unsigned k = 0; k < 2; k++) {
                const unsigned count = counts[i][k];
                counts[i][k] = (uint16_t)at;
                at += count;
            }
        }
        for (unsigned i = 0; i < half; i++) {
            tmp[counts[leaves[i] >> shift & 255][0]++] = leaves[i];
            tmp[counts[leaves[half + i] >> shift & 255][1]++] = leaves[half + i];
        }
        if (n % 2 != 0) {
            tmp[counts[leaves[n - 1] >> shift & 255][1]++] = leaves[n - 1];
        }
        memcpy(leaves, tmp, n * sizeof *leaves);
    }
}

/*
 * Depths of n >= 2 leaves, the rarest first, in the tree that Huffman's method builds (Moffat and
 * Katajainen, "In-place calculation of minimum-redundancy codes"): w[] goes from weights to parents
 * of inner nodes to their depths, from which the number of leaves at each depth follows.
 */
static void find_depths(uint32_t *w, unsigned n)
{
    unsigned leaf_at = 2, root = 0;
    w[0] += w[1];
    for (unsigned next = 1; next < n - 1; next++) {
        uint32_t sum = 0;
        for (int k = 0; k < 2; k++) {
            if (leaf_at >= n || (root < next && w[root] < w[leaf_at])) {
                sum += w[root];
                w[root++] = next;
            } else {
                sum += w[leaf_at++];
            }
        }
        w[next] = sum;
    }
    w[n - 2] = 0;
    for (unsigned i = n - 2; i-- > 0;) {
        w[i] = w[w[i]] + 1;
    }
    unsigned avail = 1, used = 0, depth = 0, node = n - 1, at = n;
    while (avail > 0) {
        while (node > 0 && w[node - 1] == depth) {
            used++;
            node--;
        }
        for (; avail > used; avail--) {
            w[--at] = depth;
        }
        avail = 2 * used;
        depth++;
        used = 0;
    }
}

/* Makes lengths, not increasing with i, a complete code of at most max_len bits. */
static void limit_lengths(uint32_t *lens, unsigned n, unsigned max_len)
{
    const uint32_t whole = (uint32_t)1 << max_len;
    uint32_t sum = 0; /* of the parts that codes take of all bit strings */
    for (unsigned i = 0; i < n; i++) {
        lens[i] = lens[i] > max_len ? max_len : lens[i];
        sum += whole >> lens[i];
    }
    for (unsigned i = 0; sum > whole; i++) { /* rare symbols give */
        while (lens[i] < max_len && sum > whole) {
            lens[i]++;
            sum -= whole >> lens[i];
        }
    }
    for (unsigned i = n; i-- > 0 && sum < whole;) { /* frequent ones take */
        while (lens[i] > 1 && whole >> lens[i] <= whole - sum) {
            sum += whole >> lens[i];
            lens[i]--;
        }
    }
}

void b2i_huff_lengths(const uint32_t *freqs, unsigned nsyms, unsigned max_len, uint8_t *lens)
{
    leaf leaves[B2I_HUFF_MAX_SYMS];
    uint32_t w[B2I_HUFF_MAX_SYMS];
    unsigned n = 0, shift = 0;
    uint32_t all = 0;
    for (unsigned i = 0; i < nsyms; i++) {
        all |= freqs[i];
    }
    while (all >> shift >> (32 - SYM_BITS) != 0) {
        shift++;
    }
    for (unsigned i = 0; i < nsyms; i++) {
        if (freqs[i] != 0) {
            const uint32_t freq = freqs[i] >> shift;
            leaves[n++] = (freq > 0 ? freq : 1) << SYM_BITS | i;
        }
    }
    memset(lens, 0, nsyms);
    if (n < 2) {
        unsigned sym = n == 1 ? leaves[0] & SYM_MASK : 0;
        lens[sym] = 1;
        lens[sym == 0 ? 1 : 0] = 1;
        return;
    }
    sort_leaves(leaves, n, w);
    for (unsigned i = 0; i < n; i++) {
        w[i] = leaves[i] >> SYM_BITS;
    }
    find_depths(w, n);
    limit_lengths(w, n, max_len);
    for (unsigned i = 0; i < n; i++) {
        lens[leaves[i] & SYM_MASK] = (uint8_t)w[i];
    }
}

/* The low len bits in the other order, 15 at most. */
static unsigned reversed(unsigned code, unsigned len)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return code >> (16 - len);
}

/* The first symbol from i on that may have a code, or nsyms: many in a row have none. */
static unsigned skip_unused(const uint8_t *lens, unsigned nsyms, unsigned i)
{
    while (nsyms - i >= 8 && b2i_ld64le(lens + i) == 0) {
        i += 8;
    }
    return i;
}

void b2i_huff_words(const uint8_t *lens, unsigned nsyms, uint32_t *words)
{
    unsigned counts[B2I_HUFF_MAX_LEN + 1] = { 0 }, next[B2I_HUFF_MAX_LEN + 1], code = 0;
    for (unsigned i = 0; (i = skip_unused(lens, nsyms, i)) < nsyms; i++) {
        counts[lens[i]]++;
    }
    counts[0] = 0;
    for (unsigned len = 1; len <= B2I_HUFF_MAX_LEN; len++) {
        code = (code + counts[len - 1]) << 1;
        next[len] = code;
    }
    for (unsigned i = 0; (i = skip_unused(lens, nsyms, i)) < nsyms; i++) {
        const unsigned len = lens[i];
        if (len > 0) {
            words[i] = len << B2I_HUFF_LEN_AT | reversed(next[len]++, len);
        }
    }
}
