/*
 * blosc2c.h: the public interface of libblosc2c, an implementation of the
 * Blosc2 formats (chunks, super-chunks, frames, n-dimensional arrays).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Conventions, stated once
 * ------------------------
 * Units       '..._len' and '..._cap' count bytes, 'n<thing>s' count things,
 *             '..._at' is a position in a file or buffer.
 * Results     Everything that can fail returns a b2c_status; sizes come back
 *             through pointers.  Outputs are written only on success, except
 *             '*err' and sizes documented as "the size needed".  Bulk output
 *             buffers hold unspecified bytes after a failure.
 * Errors      'err' may be NULL.  When it is not, a failing call fills all of
 *             it; 'what' and 'field' are static text, nothing is to be freed.
 * Ownership   '..._new' and '..._open' pair with '..._free', which accepts NULL.
 *             '..._borrow_...' returns a pointer that lives until the next
 *             modifying call on its parent; '..._get_...' copies.
 * Threads     A b2c_ctx is used by one thread at a time.  A b2c_pool may be
 *             shared by any number of contexts.  Data objects may be read by
 *             any number of threads, each with its own context, while none
 *             modifies them.
 * Fork        A child may use every object that its thread was not using at
 *             the moment of the fork; pools start new workers by themselves.
 * Structs     Parameters that later versions may extend start with 'size': the
 *             struct's '..._init' sets it; where there is none, it is sizeof.
 */
#ifndef BLOSC2C_H
#define BLOSC2C_H

#include <stddef.h>
#include <stdint.h>

#if defined(B2C_STATIC)
#define B2C_API
#elif defined(_WIN32)
#if defined(B2C_BUILDING)
#define B2C_API __declspec(dllexport)
#else
#define B2C_API __declspec(dllimport)
#endif
#else
#define B2C_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__) || defined(__clang__)
#define B2C_MUST_USE __attribute__((warn_unused_result))
#else
#define B2C_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */

/* ---- Status ------------------------------------------------------------ */

/* Values are never renumbered.  The decade tells the family. */
typedef enum b2c_status {
    B2C_OK = 0,

    /* the caller's mistake */
    B2C_E_ARGUMENT = 10,    /* an argument is outside its documented values */
    B2C_E_RANGE = 11,       /* an item, chunk or block number is beyond the end */
    B2C_E_OUTPUT_SIZE = 12, /* the output buffer is too small */
    B2C_E_READ_ONLY = 13,   /* the object was opened for reading, or a write failed before */
    B2C_E_EXISTS = 14,      /* the file, directory, metalayer or number is already there */
    B2C_E_NOT_FOUND = 15,   /* no such metalayer, no array, or nothing that is kept */

    /* the data */
    B2C_E_FORMAT = 20,         /* not a chunk or frame at all */
    B2C_E_CORRUPT = 21,        /* impossible values, or a stream that does not decode */
    B2C_E_TRUNCATED = 22,      /* the data ends too early */
    B2C_E_UNSUPPORTED = 23,    /* a version or variant that this library does not read */
    B2C_E_UNKNOWN_CODEC = 24,  /* a codec that is not built in or registered */
    B2C_E_UNKNOWN_FILTER = 25, /* a filter that is not built in or registered */
    B2C_E_CHECKSUM = 26,       /* stored and computed checksums differ */

    /* resources */
    B2C_E_MEMORY = 30,   /* an allocation failed */
    B2C_E_LIMIT = 31,    /* beyond a limit of the format or of b2c_limits */
    B2C_E_IO = 32,       /* the operating system said no; see sys_errno */
    B2C_E_LOCKED = 33,   /* the caller itself holds what it would wait for, or others do too long */
    B2C_E_CONFLICT = 34, /* somebody else changed the file at the same time */

    B2C_E_CALLBACK = 40, /* a user's codec, filter or I/O function failed */
    B2C_E_INTERNAL = 50  /* a defect of this library; please report it */
} b2c_status;

#define B2C_NO_OFFSET 0xFFFFFFFFFFFFFFFF
#define B2C_NO_NUMBER -1

typedef struct b2c_error {
    b2c_status status;
    int sys_errno;     /* of the system; for B2C_E_CALLBACK what was returned; else 0 */
    uint64_t offset;   /* byte in the input where the trouble lies, or B2C_NO_OFFSET */
    int64_t chunk;     /* chunk number, or B2C_NO_NUMBER */
    int64_t block;     /* block number inside the chunk, or B2C_NO_NUMBER */
    uint64_t expected; /* of checksums, sizes, numbers: what it should be, or be at most; else 0 */
    uint64_t actual;   /* likewise: what was found; for B2C_E_UNKNOWN_… the number */
    const char *field; /* name of the stored field, the argument or the limit, or NULL */
    const char *what;  /* one clause in English, never NULL after a failure */
} b2c_error;

/* A short English text for a status; never NULL, also for unknown values. */
B2C_API const char *b2c_status_text(b2c_status status);

/* ---- Versions and facts of the build ----------------------------------- */

#define B2C_VERSION_MAJOR 0
#define B2C_VERSION_MINOR 1
#define B2C_VERSION_PATCH 0

/* "0.1.0" */
B2C_API const char *b2c_version(void);

/* Name of the SIMD level in use: "generic", "sse2", "avx2", "neon", … */
B2C_API const char *b2c_simd_level(void);

/*
 * Asks the system for pages of 2 MB or so in n bytes at 'p' that are about to be
 * written for the first time: large outputs into new memory then cost half.  It is
 * a hint without other effect, and none where there are no such pages.
 */
B2C_API void b2c_advise_huge_pages(void *p, size_t n);

/* ---- Formats: numbers as stored ---------------------------------------- */

#define B2C_MIN_HEADER_LEN   16
#define B2C_HEADER_LEN       32
#define B2C_MAX_CHUNK_NBYTES 2147483615 /* 2^31 - 1 - 32 */
#define B2C_MAX_BLOCKSIZE    536866816
#define B2C_MAX_TYPESIZE     536866816 /* chunk headers hold 255; larger ones are kept by frames */
#define B2C_MAX_FILTERS      6
#define B2C_MAX_DIM          16
#define B2C_MAX_METALAYERS   16
#define B2C_MAX_NAME_LEN     31
#define B2C_MAX_META_NBYTES  16777216 /* decoded vlmetalayer, unless limits say otherwise */

#define B2C_CODEC_BLOSCLZ 0
#define B2C_CODEC_LZ4     1
#define B2C_CODEC_LZ4HC   2
#define B2C_CODEC_ZLIB    4
#define B2C_CODEC_ZSTD    5

#define B2C_FILTER_NONE       0
#define B2C_FILTER_SHUFFLE    1
#define B2C_FILTER_BITSHUFFLE 2
#define B2C_FILTER_DELTA      3
#define B2C_FILTER_TRUNC_PREC 4

#define B2C_SPLIT_ALWAYS         1
#define B2C_SPLIT_NEVER          2
#define B2C_SPLIT_AUTO           3
#define B2C_SPLIT_FORWARD_COMPAT 4

#define B2C_SPECIAL_NONE   0
#define B2C_SPECIAL_ZERO   1
#define B2C_SPECIAL_NAN    2
#define B2C_SPECIAL_VALUE  3
#define B2C_SPECIAL_UNINIT 4

/* Name of a codec ("blosclz", "zstd"), or NULL for an ID that has none. */
B2C_API const char *b2c_codec_name(uint8_t codec);

/* Whether this build can compress and decompress with the codec. */
B2C_API int b2c_codec_available(uint8_t codec);

/* The library behind a codec and its version ("LZ4", "1.9.4"); NULL when not available. */
B2C_API const char *b2c_codec_library(uint8_t codec);
B2C_API const char *b2c_codec_library_version(uint8_t codec);

/* Name of a filter ("shuffle"), or NULL for an ID that has none. */
B2C_API const char *b2c_filter_name(uint8_t filter);

/* ---- Pool and context -------------------------------------------------- */

/* Worker threads that contexts may share.  Threads start when first needed. */
typedef struct b2c_pool b2c_pool;

/*
 * b2c_pool_new() makes a pool of at most 'nthreads' threads, the calling one
 * included (1…256).  B2C_E_ARGUMENT, B2C_E_MEMORY.
 */
B2C_API B2C_MUST_USE b2c_status b2c_pool_new(uint32_t nthreads, b2c_pool **pool, b2c_error *err);

/* Stops the workers.  No context may be using the pool. */
B2C_API void b2c_pool_free(b2c_pool *pool);

/*
 * What a reader accepts from bytes that it does not trust; 0 means "the default".  Those of a
 * context are for chunks and metalayers that are given as bytes, those of an open super-chunk for
 * all that it holds.
 */
typedef struct b2c_limits {
    uint64_t max_chunk_nbytes; /* decoded size of one chunk; default B2C_MAX_CHUNK_NBYTES */
    uint64_t max_meta_nbytes;  /* decoded size of one vlmetalayer; default B2C_MAX_META_NBYTES */
    uint64_t max_nbytes;       /* decoded size of all chunks together; default: any */
    /*
     * Chunks of a super-chunk.  Default: 2^24, and one more for every 32 bytes of the frame; and
     * 2^28 - 5 that are all the same special value, which take no memory.
     */
    uint64_t max_nchunks;
    uint32_t max_nmeta;      /* metalayers of both kinds; default 16 and 8192 */
    uint32_t max_ndim;       /* dimensions of an array; default B2C_MAX_DIM */
    uint32_t max_open_files; /* chunk files of a directory open at a time; default 64 */
} b2c_limits;

/*
 * Scratch memory, codec states and limits of one thread at a time.  It keeps some of what it has
 * decoded for reads of arrays: up to 2 MB of blocks, and up to 4 MB of neighbours of columns that
 * were read one after the other.
 */
typedef struct b2c_ctx b2c_ctx;

/*
 * b2c_ctx_new() makes a context that runs blocks on up to 'nthreads' threads of
 * 'pool' (NULL or 1: all work is done by the caller).  'limits' may be NULL.
 * The pool must outlive the context.  B2C_E_ARGUMENT, B2C_E_MEMORY.
 */
B2C_API B2C_MUST_USE b2c_status b2c_ctx_new(b2c_pool *pool, uint32_t nthreads,
                                            const b2c_limits *limits, b2c_ctx **ctx,
                                            b2c_error *err);
B2C_API void b2c_ctx_free(b2c_ctx *ctx);

/* Changes the number of threads (1…256) of later calls; others are B2C_E_ARGUMENT. */
B2C_API B2C_MUST_USE b2c_status b2c_ctx_set_nthreads(b2c_ctx *ctx, uint32_t nthreads,
                                                     b2c_error *err);

/* Changes the limits of later calls; NULL restores the defaults. */
B2C_API B2C_MUST_USE b2c_status b2c_ctx_set_limits(b2c_ctx *ctx, const b2c_limits *limits,
                                                   b2c_error *err);

/*
 * With b2c_ctx_collect_damage() and 'on', reads of data across chunks go on past a chunk that they
 * cannot read, so that one call finds all such chunks that it needs.  It fails all the same, with
 * the lowest of them, and b2c_ctx_damage() tells the i-th of all, in no particular order and some
 * of them more than once: B2C_E_NOT_FOUND beyond the last one.  What is not the fault of a chunk,
 * such as B2C_E_MEMORY and B2C_E_CALLBACK, ends a read at once, as does a read without an 'err'.
 * Each call with 'on' begins anew; without, nothing is collected any more.  B2C_E_ARGUMENT: a
 * pointer is NULL.
 */
B2C_API B2C_MUST_USE b2c_status b2c_ctx_collect_damage(b2c_ctx *ctx, int on, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_ctx_damage(const b2c_ctx *ctx, uint64_t i, b2c_error *damage,
                                               b2c_error *err);

/* ---- Chunks ------------------------------------------------------------ */

typedef struct b2c_cparams {
    uint32_t size;      /* sizeof(b2c_cparams), set by b2c_cparams_init() */
    uint32_t typesize;  /* bytes of an item, 1…B2C_MAX_TYPESIZE */
    uint32_t blocksize; /* bytes of a block, 0 = chosen from the other parameters */
    uint8_t codec;      /* B2C_CODEC_… */
    uint8_t codec_meta; /* parameter of codecs that have one */
    uint8_t clevel;     /* 0…9, 0 stores */
    uint8_t splitmode;  /* B2C_SPLIT_… */
    uint8_t use_dict;   /* 1: train a dictionary (zstd, lz4, lz4hc) */
    uint8_t filters[6]; /* slot 0 is applied first when compressing */
    uint8_t filters_meta[6];
} b2c_cparams;

/*
 * Defaults: zstd level 5 (BloscLZ in a build without zstd), shuffle in slot 5, typesize 8,
 * automatic split and block size.
 */
B2C_API void b2c_cparams_init(b2c_cparams *cparams);

/*
 * Whether chunks can be made with parameters, as all functions that take some check.
 * B2C_E_ARGUMENT: err->field is one that has a value of no sense; B2C_E_UNKNOWN_CODEC, _FILTER.
 */
B2C_API B2C_MUST_USE b2c_status b2c_cparams_check(const b2c_cparams *cparams, b2c_error *err);

/* Facts of a chunk header. */
typedef struct b2c_chunk_info {
    uint64_t nbytes;     /* decoded size */
    uint64_t cbytes;     /* size of the chunk itself */
    uint64_t blocksize;  /* 0 for VL-block chunks */
    uint64_t nblocks;    /* 0 for special, empty and memcpy chunks of no block */
    uint64_t header_len; /* 16 or 32 */
    uint32_t typesize;   /* as stored: 1 for types above 255 bytes */
    uint8_t version;
    uint8_t codec; /* codec ID; LZ4 for format-1 chunks with a 16-byte header */
    uint8_t codec_meta;
    uint8_t special; /* B2C_SPECIAL_… */
    uint8_t is_memcpy;
    uint8_t is_split;
    uint8_t has_dict;
    uint8_t has_vlblocks;
    uint8_t filters[6];
    uint8_t filters_meta[6];
} b2c_chunk_info;

/*
 * b2c_chunk_inspect() reads a chunk header.  Only the header must be present:
 * 'chunk_len' may be anything from 16 (32 for extended headers) upward.
 * B2C_E_TRUNCATED, B2C_E_CORRUPT, B2C_E_UNSUPPORTED, B2C_E_LIMIT.
 */
B2C_API B2C_MUST_USE b2c_status b2c_chunk_inspect(const void *chunk, size_t chunk_len,
                                                  b2c_chunk_info *info, b2c_error *err);

/* Room that b2c_compress() can need for 'src_len' bytes: src_len + 32. */
B2C_API size_t b2c_compress_bound(size_t src_len);

/*
 * b2c_compress() makes one chunk of 'src_len' bytes (at most
 * B2C_MAX_CHUNK_NBYTES).  The chunk depends on the data and 'cparams' alone,
 * not on threads, machine or room.  '*dst_len' is its size.
 *
 *   B2C_E_ARGUMENT     err->field names the parameter
 *   B2C_E_LIMIT        src_len is too large
 *   B2C_E_OUTPUT_SIZE  the chunk does not fit; *dst_len is a size that suffices
 *   B2C_E_UNKNOWN_CODEC, B2C_E_UNKNOWN_FILTER, B2C_E_MEMORY
 */
B2C_API B2C_MUST_USE b2c_status b2c_compress(b2c_ctx *ctx, const b2c_cparams *cparams,
                                             const void *src, size_t src_len, void *dst,
                                             size_t dst_cap, size_t *dst_len, b2c_error *err);

/*
 * b2c_decompress() decodes a whole chunk (Blosc1 or Blosc2).  '*dst_len' is its
 * nbytes.  Bytes after the chunk's cbytes are ignored.
 *
 *   B2C_E_OUTPUT_SIZE  *dst_len is the size needed
 *   B2C_E_CORRUPT, B2C_E_TRUNCATED, B2C_E_UNSUPPORTED, B2C_E_UNKNOWN_CODEC,
 *   B2C_E_UNKNOWN_FILTER, B2C_E_LIMIT, B2C_E_MEMORY
 */
B2C_API B2C_MUST_USE b2c_status b2c_decompress(b2c_ctx *ctx, const void *chunk, size_t chunk_len,
                                               void *dst, size_t dst_cap, size_t *dst_len,
                                               b2c_error *err);

/*
 * b2c_getitem() decodes items [first, first + nitems) of a chunk, where an item
 * is the chunk header's typesize; only the blocks they touch are decoded.
 * B2C_E_RANGE when the range passes the end; otherwise as b2c_decompress().
 * VL-block chunks have no items: B2C_E_UNSUPPORTED.
 */
B2C_API B2C_MUST_USE b2c_status b2c_getitem(b2c_ctx *ctx, const void *chunk, size_t chunk_len,
                                            uint64_t first, uint64_t nitems, void *dst,
                                            size_t dst_cap, size_t *dst_len, b2c_error *err);

/*
 * b2c_vlcompress() makes one chunk of several buffers, each a block that is decoded alone and has
 * a size of its own: nblocks pointers and lengths, all above 0.  *dst_len is its size.
 *
 *   B2C_E_ARGUMENT     no or an empty block; a parameter; the delta filter
 *   B2C_E_OUTPUT_SIZE  the chunk does not fit; *dst_len is a size that suffices: 32, and
 *                      8 more than each block
 *   B2C_E_LIMIT        those sizes are more than a chunk can have
 *   B2C_E_UNKNOWN_CODEC, B2C_E_UNKNOWN_FILTER, B2C_E_MEMORY
 */
B2C_API B2C_MUST_USE b2c_status b2c_vlcompress(b2c_ctx *ctx, const b2c_cparams *cparams,
                                               const void *const *blocks, const size_t *block_lens,
                                               size_t nblocks, void *dst, size_t dst_cap,
                                               size_t *dst_len, b2c_error *err);

/*
 * Decoded sizes of the blocks of such a chunk.  B2C_E_UNSUPPORTED: another kind of chunk;
 * B2C_E_OUTPUT_SIZE: *nblocks is the number of sizes; otherwise as b2c_decompress().
 */
B2C_API B2C_MUST_USE b2c_status b2c_vlblock_lens(b2c_ctx *ctx, const void *chunk, size_t chunk_len,
                                                 uint32_t *lens, size_t lens_cap, size_t *nblocks,
                                                 b2c_error *err);

/* One block of such a chunk; B2C_E_RANGE, B2C_E_UNSUPPORTED, otherwise as b2c_decompress(). */
B2C_API B2C_MUST_USE b2c_status b2c_vldecompress_block(b2c_ctx *ctx, const void *chunk,
                                                       size_t chunk_len, uint64_t nblock, void *dst,
                                                       size_t dst_cap, size_t *dst_len,
                                                       b2c_error *err);

/*
 * b2c_special_chunk() writes the chunk (32 bytes, or 32 + typesize for
 * B2C_SPECIAL_VALUE) that decodes to 'nbytes' bytes of the given kind.  'value'
 * holds one item for B2C_SPECIAL_VALUE and is ignored otherwise.
 *
 *   B2C_E_ARGUMENT     a parameter; kind is not 1…4; nbytes is no multiple of the typesize;
 *                      NaN with a typesize other than 4 or 8; no value, or no item of it
 *   B2C_E_OUTPUT_SIZE  *dst_len is the size needed
 *   B2C_E_LIMIT        nbytes is too large
 */
B2C_API B2C_MUST_USE b2c_status b2c_special_chunk(const b2c_cparams *cparams, uint8_t kind,
                                                  uint64_t nbytes, const void *value, void *dst,
                                                  size_t dst_cap, size_t *dst_len, b2c_error *err);

/* ---- Super-chunks ------------------------------------------------------ */

/*
 * An ordered set of chunks with metadata: in memory, as a contiguous frame
 * (memory or file), or as a sparse frame (directory).
 */
typedef struct b2c_schunk b2c_schunk;

#define B2C_STORAGE_MEMORY 0 /* list of chunks in memory */
#define B2C_STORAGE_FILE   1 /* contiguous frame in a file, or read from a buffer */
#define B2C_STORAGE_DIR    2 /* sparse frame: a directory */

#define B2C_OPEN_READ   0 /* read only */
#define B2C_OPEN_UPDATE 1 /* read and write */
#define B2C_OPEN_COPY   2 /* read and write; changes stay in memory and are gone at the end */

/* Added to the mode.  MMAP: contiguous frames are read through a mapping of the file. */
#define B2C_OPEN_MMAP 16

/*
 * Added to the mode READ or UPDATE: several handles, of any process and of the reference library,
 * change the frame in turns.  Every edit waits for the lock file beside the frame (<path>.b2lock,
 * <directory>/.b2lock), sees what others have stored, and is itself stored when it returns.
 * <path> is as it is given: a symbolic link and what it leads to have two locks, here and there.
 * Reads show what others have stored at the last edit, lock or refresh of this handle; see
 * b2c_schunk_lock().  The lock is advisory: only those who ask for it are kept out.
 */
#define B2C_OPEN_LOCK 32

/*
 * What of the edits survives.  At every level the stored frame is, at any
 * moment, a complete older or newer one for every reader, and a process that dies
 * leaves such a one.
 */
#define B2C_DURABILITY_NONE    0 /* edits are stored by flush and close only */
#define B2C_DURABILITY_PROCESS 1 /* edits survive the process, not a loss of power (default) */
#define B2C_DURABILITY_COMMIT  2 /* edits survive a loss of power, one under way wholly or not */

/* What a new super-chunk is made of. */
typedef struct b2c_schunk_params {
    uint32_t size;      /* sizeof, set by b2c_schunk_params_init() */
    uint8_t storage;    /* B2C_STORAGE_… */
    uint8_t nmeta;      /* fixed metalayers to create */
    uint8_t durability; /* B2C_DURABILITY_…; default PROCESS */
    uint8_t checksums;  /* 1 (default): store checksums, which other libraries ignore */
    uint8_t lock;       /* 1: as B2C_OPEN_LOCK; default 0 */
    uint8_t replaces;   /* 1: takes the place of what is there; default 0.  See b2c_schunk_new() */
    int64_t chunksize;  /* bytes of a chunk; 0: variable sizes; -1: taken from the first chunk */
    const char *path;   /* for FILE and DIR; else nothing is there, or for DIR an empty directory */
    b2c_cparams cparams;              /* for appended data; kept in the frame */
    const char *const *meta_names;    /* nmeta names of up to 31 bytes */
    const void *const *meta_contents; /* their contents, by convention msgpack */
    const uint32_t *meta_lens;
    const b2c_limits *limits; /* as when it is opened, also for its growth; NULL: the defaults */
} b2c_schunk_params;

B2C_API void b2c_schunk_params_init(b2c_schunk_params *params);

typedef struct b2c_schunk_info {
    uint64_t nbytes; /* decoded bytes of all chunks */
    uint64_t cbytes; /* stored bytes of all chunks (special chunks of the index: 32 each) */
    uint64_t nchunks;
    uint64_t frame_len;  /* bytes of the frame as stored now; 0 for MEMORY */
    uint64_t header_len; /* likewise */
    uint64_t trailer_len;
    int64_t chunksize;  /* 0: variable, -1: no chunk yet and not known */
    uint32_t typesize;  /* the true one, may exceed 255 */
    uint32_t blocksize; /* as asked for, 0 = automatic */
    uint8_t storage;    /* B2C_STORAGE_… */
    uint8_t is_writable;
    uint8_t frame_version; /* low nibble of general_flags */
    uint8_t general_flags; /* whole byte 0x19 */
    uint8_t is_legacy;     /* a frame of 2019 to 2021, of a layout that is only read */
    uint32_t nmeta;
    uint32_t nvlmeta;
    b2c_cparams cparams;
} b2c_schunk_info;

/*
 * b2c_schunk_new() creates a super-chunk; on disk a valid empty frame is there
 * on return, and nothing of it after a failure, which may take along an empty directory.
 * B2C_E_EXISTS (what is there stays), B2C_E_CONFLICT (somebody else is making one in
 * the directory), B2C_E_ARGUMENT, B2C_E_IO, B2C_E_MEMORY.
 *
 * With 'replaces', what is at the path stays until the first commit: of an edit, a transaction or
 * a flush.  It may be nothing, a file, a symbolic link, a sparse frame or an empty directory
 * (B2C_E_EXISTS otherwise).  The frame takes its place then, whole and at once, unless somebody
 * else has come in between (B2C_E_CONFLICT, B2C_E_EXISTS).  Closed without a commit, it leaves
 * nothing.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_new(const b2c_schunk_params *params, b2c_schunk **schunk,
                                               b2c_error *err);

/*
 * b2c_schunk_open() opens a frame: a file (contiguous, its first byte at
 * 'offset') or a directory (sparse, offset 0).  'mode' is B2C_OPEN_READ, _UPDATE or _COPY and
 * what is added to it; 'limits' may be NULL.  Frames of 2019 to 2021 can be read
 * (B2C_E_READ_ONLY for UPDATE); their user metadata is the vlmetalayer "usermeta".
 *
 *   B2C_E_ARGUMENT  no such mode, COPY with LOCK, or an offset with UPDATE or of a directory
 *   B2C_E_IO        sys_errno is ENOENT when nothing is there
 *   B2C_E_LOCKED    see b2c_schunk_lock()
 *   B2C_E_CONFLICT  somebody else writes to the file at this moment
 *   B2C_E_FORMAT, B2C_E_CORRUPT, B2C_E_TRUNCATED, B2C_E_UNSUPPORTED, B2C_E_CHECKSUM,
 *   B2C_E_LIMIT, B2C_E_MEMORY
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_open(const char *path, uint64_t offset, int mode,
                                                const b2c_limits *limits, b2c_schunk **schunk,
                                                b2c_error *err);

/*
 * b2c_schunk_open_mem() opens a contiguous frame in memory.  copy 0: the bytes
 * are borrowed, must outlive the schunk and not change; it is read only.  copy 1:
 * it can be changed, in memory.  As b2c_schunk_open().
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_open_mem(const void *frame, size_t frame_len, int copy,
                                                    const b2c_limits *limits, b2c_schunk **schunk,
                                                    b2c_error *err);

/* Functions that read bytes for the library; called from any thread that reads. */
typedef struct b2c_io_table {
    void *handle; /* passed to each of them */
    /* Exactly n bytes at 'at', all of them below size(); 0, or an errno. */
    int (*read_at)(void *handle, uint64_t at, void *dst, size_t n);
    /* How many bytes there are; 0, or an errno. */
    int (*size)(void *handle, uint64_t *size);
    /* Called once, at the end, also when opening fails; may be NULL. */
    void (*close)(void *handle);
} b2c_io_table;

/*
 * b2c_schunk_open_io() opens a contiguous frame, whose first byte is at 'offset', for reading.
 * As b2c_schunk_open(); B2C_E_CALLBACK with their result in sys_errno when a function fails.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_open_io(const b2c_io_table *io, uint64_t offset,
                                                   const b2c_limits *limits, b2c_schunk **schunk,
                                                   b2c_error *err);

/*
 * Writes what is pending and closes; the schunk is freed also on failure.  With B2C_OPEN_LOCK every
 * edit is stored before: when this thread holds the lock through another handle, the file is closed
 * without being packed.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_close(b2c_schunk *schunk, b2c_error *err);

/* Closes without reporting failures; NULL is fine. */
B2C_API void b2c_schunk_free(b2c_schunk *schunk);

B2C_API void b2c_schunk_info_get(const b2c_schunk *schunk, b2c_schunk_info *info);

/*
 * Changes the parameters of later appends.  Unless there are no chunks and this is no array,
 * typesize and blocksize must stay (B2C_E_ARGUMENT); that they change is an edit (B2C_E_READ_ONLY).
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_set_cparams(b2c_schunk *schunk,
                                                       const b2c_cparams *cparams, b2c_error *err);

/* -- reading: B2C_E_RANGE for a chunk number that is not there -- */

/* Header facts of chunk 'nchunk', without reading more than its header. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_chunk_info(const b2c_schunk *schunk, uint64_t nchunk,
                                                      b2c_chunk_info *info, b2c_error *err);

/* The first chunk from 'first' on that has a dictionary, or the number of chunks. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_next_dict(const b2c_schunk *schunk, uint64_t first,
                                                     uint64_t *nchunk, b2c_error *err);

/* Stored bytes of chunk 'nchunk' (special chunks of the index: the equivalent 32-byte chunk). */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_get_chunk(const b2c_schunk *schunk, uint64_t nchunk,
                                                     void *dst, size_t dst_cap, size_t *dst_len,
                                                     b2c_error *err);

/* Decoded bytes of chunk 'nchunk'; B2C_E_OUTPUT_SIZE with the size needed. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_decode_chunk(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                        uint64_t nchunk, void *dst, size_t dst_cap,
                                                        size_t *dst_len, b2c_error *err);

/*
 * Of a chunk of variable-size blocks: decoded sizes of the blocks, and one block, of which alone is
 * read and decoded what can be.  As b2c_vlblock_lens() and b2c_vldecompress_block().
 *
 * A context keeps the chunk open between calls, up to 2 MB of table and stored bytes, if a change
 * by others would be noticed.  Each call on another one reads its table again: of a large chunk
 * from another library b2c_schunk_decode_chunk() is the way to all blocks.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_vlblock_lens(const b2c_schunk *schunk, uint64_t nchunk,
                                                        uint32_t *lens, size_t lens_cap,
                                                        size_t *nblocks, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_get_vlblock(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                       uint64_t nchunk, uint64_t nblock, void *dst,
                                                       size_t dst_cap, size_t *dst_len,
                                                       b2c_error *err);

/*
 * Bytes [at, at + nbytes) of the decoded data, across chunks, decoding only the
 * blocks they touch.  B2C_E_RANGE beyond the end.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_read(const b2c_schunk *schunk, b2c_ctx *ctx, uint64_t at,
                                                uint64_t nbytes, void *dst, size_t dst_cap,
                                                b2c_error *err);

/*
 * -- editing: B2C_E_READ_ONLY when the schunk is not writable --
 *
 * An edit that fails before it is stored leaves everything as it was.  When storing it
 * fails (B2C_E_IO, or a damaged chunk that has to be moved), the stored frame is the last
 * committed one, the handle still shows the edit, and every further edit is
 * B2C_E_READ_ONLY; opening the frame again shows what is stored.
 *
 * What compresses fails as b2c_compress(), what decodes as b2c_schunk_decode_chunk().  B2C_E_LIMIT:
 * the frame could not be opened again with its limits.  With B2C_OPEN_LOCK also as
 * b2c_schunk_lock().
 */

/* Compresses 'src' with the schunk's parameters and appends it as one chunk. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_append(b2c_schunk *schunk, b2c_ctx *ctx, const void *src,
                                                  size_t src_len, b2c_error *err);

/*
 * Appends a ready chunk, the bytes behind which are ignored.  Its header is checked, as by
 * b2c_chunk_inspect(); B2C_E_TRUNCATED also when the chunk is longer than 'chunk_len',
 * B2C_E_ARGUMENT when it decodes to nothing, B2C_E_UNSUPPORTED when it has less than 32 bytes.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_append_chunk(b2c_schunk *schunk, const void *chunk,
                                                        size_t chunk_len, b2c_error *err);

/*
 * Compresses 'src' and makes it chunk 'nchunk'; later chunks move up.  B2C_E_RANGE beyond the end.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_insert(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk,
                                                  const void *src, size_t src_len, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_insert_chunk(b2c_schunk *schunk, uint64_t nchunk,
                                                        const void *chunk, size_t chunk_len,
                                                        b2c_error *err);

/*
 * Appends a chunk of variable-size blocks, see b2c_vlcompress().  Such a super-chunk should have
 * no other chunks: the reference library adds none.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_append_vlblocks(b2c_schunk *schunk, b2c_ctx *ctx,
                                                           const void *const *blocks,
                                                           const size_t *block_lens, size_t nblocks,
                                                           b2c_error *err);

/*
 * Replaces chunk 'nchunk'.  Another decoded size than that of the other chunks
 * turns the frame into one of variable chunk sizes (the last chunk may be shorter).
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_update(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nchunk,
                                                  const void *src, size_t src_len, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_update_chunk(b2c_schunk *schunk, uint64_t nchunk,
                                                        const void *chunk, size_t chunk_len,
                                                        b2c_error *err);

/* Removes chunk 'nchunk'; later chunks move down.  B2C_E_RANGE. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_delete_chunk(b2c_schunk *schunk, uint64_t nchunk,
                                                        b2c_error *err);

/*
 * Chunk i becomes what chunk order[i] was; 'norder' is the number of chunks, of which each is named
 * once (B2C_E_ARGUMENT).
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_reorder(b2c_schunk *schunk, const uint64_t *order,
                                                   uint64_t norder, b2c_error *err);

/*
 * Appends 'nbytes' of special values as chunks of the super-chunk's chunksize, the last
 * one shorter; all or nothing.  'value': one item, for B2C_SPECIAL_VALUE only.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_fill_special(b2c_schunk *schunk, uint64_t nbytes,
                                                        uint8_t kind, const void *value,
                                                        b2c_error *err);

/* Replaces chunk 'nchunk' by special values. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_update_special(b2c_schunk *schunk, uint64_t nchunk,
                                                          uint8_t kind, const void *value,
                                                          b2c_error *err);

/*
 * Writes 'src' at byte 'at' of the decoded data; what passes the end is
 * appended.  Chunks are decoded and compressed again where needed.  All or nothing.
 * B2C_E_RANGE when 'at' is beyond the end; B2C_E_UNSUPPORTED in a chunk of variable-size blocks.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_write(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t at,
                                                 const void *src, size_t src_len, b2c_error *err);

/* Cuts the decoded data to 'nbytes'; all or nothing.  B2C_E_RANGE: there are fewer. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_truncate(b2c_schunk *schunk, b2c_ctx *ctx,
                                                    uint64_t nbytes, b2c_error *err);

/* Appends all chunks of 'from' to 'to' as they are, and sets its vlmetalayers; all or nothing. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_copy_chunks(const b2c_schunk *from, b2c_schunk *to,
                                                       b2c_error *err);

/* Appends the chunks 'numbers[0…n-1]' of 'from', in this order, as they are; all or nothing. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_copy_some(const b2c_schunk *from,
                                                     const uint64_t *numbers, uint64_t n,
                                                     b2c_schunk *to, b2c_error *err);

/* Rewrites a frame in a file without dead space, beside it and then in its place. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_compact(b2c_schunk *schunk, b2c_error *err);

/* -- commits -- */

/* The level for later edits; opened frames start with PROCESS. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_set_durability(b2c_schunk *schunk, int durability,
                                                          b2c_error *err);

/* Whether checksums are stored with later edits, and compared when reading (both 1 at first). */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_set_checksums(b2c_schunk *schunk, int write, int verify,
                                                         b2c_error *err);

/*
 * Edits between b2c_schunk_begin() and b2c_schunk_commit() become the stored state together;
 * b2c_schunk_rollback(), and closing, forget them.  B2C_E_ARGUMENT when a transaction is open
 * already, or none is; and when one of several chunks failed after some of them had been changed:
 * the commit rolls back then, as it does after a write that failed (B2C_E_READ_ONLY).
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_begin(b2c_schunk *schunk, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_commit(b2c_schunk *schunk, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_rollback(b2c_schunk *schunk, b2c_error *err);

/* Everything is stored and on the medium on return, at any level of durability. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_flush(b2c_schunk *schunk, b2c_error *err);

/*
 * Stores what closing would: closing then leaves the file alone, unless it is edited again.  For
 * who opens it for writing beside this schunk, and would be told of a conflict otherwise.  Does
 * nothing without changes, in a transaction, and with a lock file.  Counts as an edit.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_settle(b2c_schunk *schunk, b2c_error *err);

/* -- with other processes -- */

/*
 * In a forked process, where it may be called for a schunk that edits a file or directory: closes
 * what the parent has open, so that nobody waits for this process when the parent is gone.  The
 * schunk cannot be used any more, nor freed.
 */
B2C_API void b2c_schunk_leave(const b2c_schunk *schunk);

/*
 * b2c_schunk_lock() waits for the lock file of a schunk opened with B2C_OPEN_LOCK, shared or
 * exclusive, and then sees what others have stored.  Until b2c_schunk_unlock() nobody who
 * asks for the lock changes the frame: several reads see one state, several edits (exclusive only)
 * are made in one turn.  Locks nest; a transaction holds the lock exclusively.  Without
 * B2C_OPEN_LOCK nothing happens.  changed, which may be NULL: 1 when others had stored something,
 * so that facts, metalayers and descriptions of arrays must be asked for anew.  Both count as
 * edits: no other call on the schunk may run at the same time. B2C_E_IO (sys_errno EINTR when a
 * signal came; ENOENT when the frame was removed), B2C_E_LOCKED when this thread holds it
 * through another handle in a way that would keep it waiting for ever: edits fail so, too.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_lock(b2c_schunk *schunk, int exclusive, int *changed,
                                                b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_unlock(b2c_schunk *schunk, b2c_error *err);

#define B2C_CHANGE_NONE 0
#define B2C_CHANGE_GREW 1 /* chunks were appended or metadata changed */
#define B2C_CHANGE_ANY  2 /* or another file or directory has taken the place of this one */

/*
 * Reads the frame anew from its path, to see what others have stored: *change is B2C_CHANGE_…, with
 * B2C_OPEN_LOCK NONE or ANY.  Counts as an edit, and keeps what was there on failure.  A writer
 * without lock has nothing to see, nor has what is in memory.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_refresh(b2c_schunk *schunk, int *change, b2c_error *err);

/*
 * For those who read without the lock beside a writer.  A schunk opened for reading shows the state
 * of that moment, but the room of chunks that are replaced is used again two commits later.
 * is_current() after a read: 0 when somebody has committed meanwhile.  Then recheck(), which
 * counts as an edit: *lost is 1 when chunks have gone, and the schunk then shows the present state:
 * what was read may be wrong and is to be read again.
 */
B2C_API int b2c_schunk_is_current(const b2c_schunk *schunk);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_recheck(b2c_schunk *schunk, int *lost, b2c_error *err);

/*
 * Reads and decodes a chunk and compares its checksum; '*has_checksum' is 0 when none is
 * stored with it.  B2C_E_CHECKSUM, B2C_E_CORRUPT…, B2C_E_IO.  (The checksum of header, index and
 * trailer is compared when a frame is opened.)
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_verify_chunk(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                        uint64_t nchunk, int *has_checksum,
                                                        b2c_error *err);

/*
 * The same for chunk 'first' and those behind it, up to the first that is bad, the last one, or
 * until 'max_payloads' chunks were read.  '*nsound' of them are sound, '*nunverified' of those have
 * no checksum; both are set whatever the status.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_verify_chunks(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                         uint64_t first, uint64_t max_payloads,
                                                         uint64_t *nsound, uint64_t *nunverified,
                                                         b2c_error *err);

/* -- metadata.  Fixed metalayers: raw bytes.  vlmetalayers: values are stored compressed. -- */

/* The name of metalayer i, in the order of the frame, with a zero behind it; B2C_E_RANGE. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_meta_name(const b2c_schunk *schunk, uint32_t i,
                                                     char name[32], b2c_error *err);

/* Copies a content; B2C_E_NOT_FOUND, B2C_E_OUTPUT_SIZE with the size needed in *dst_len. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_meta_get(const b2c_schunk *schunk, const char *name,
                                                    void *dst, size_t dst_cap, size_t *dst_len,
                                                    b2c_error *err);

/* Replaces a content by one of the same length (B2C_E_ARGUMENT otherwise). */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_meta_update(b2c_schunk *schunk, const char *name,
                                                       const void *src, size_t src_len,
                                                       b2c_error *err);

/* Adds a metalayer while there are no chunks.  B2C_E_EXISTS, B2C_E_LIMIT, B2C_E_ARGUMENT. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_meta_add(b2c_schunk *schunk, const char *name,
                                                    const void *src, size_t src_len,
                                                    b2c_error *err);

/*
 * The same of vlmetalayers; b2c_schunk_vlmeta_get() decodes a value: also B2C_E_LIMIT and what a
 * damaged chunk gives.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_vlmeta_name(const b2c_schunk *schunk, uint32_t i,
                                                       char name[32], b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_schunk_vlmeta_get(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                      const char *name, void *dst, size_t dst_cap,
                                                      size_t *dst_len, b2c_error *err);

/* Adds or replaces a value.  B2C_E_ARGUMENT: the name; B2C_E_LIMIT. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_vlmeta_set(b2c_schunk *schunk, b2c_ctx *ctx,
                                                      const char *name, const void *src,
                                                      size_t src_len, b2c_error *err);

/* Removes a vlmetalayer; B2C_E_NOT_FOUND. */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_vlmeta_delete(b2c_schunk *schunk, const char *name,
                                                         b2c_error *err);

/* -- as one contiguous frame -- */

/*
 * The whole as a contiguous frame in memory; B2C_E_OUTPUT_SIZE with the size needed, B2C_E_CONFLICT
 * when somebody without a lock replaces a chunk meanwhile.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_to_frame(const b2c_schunk *schunk, void *dst,
                                                    size_t dst_cap, size_t *dst_len,
                                                    b2c_error *err);

/* ---- Code of the user ---------------------------------------------------- */

/*
 * Codecs, filters and block functions are called from any thread that works for a context, several
 * at once, and must not use that context or change the schunk that they are called for.  They
 * return 0, or any other number: the call then fails with B2C_E_CALLBACK, that number in
 * err->sys_errno, the name of the codec or filter in err->field, and the chunk and block.  What
 * they make must depend on their arguments alone.
 */

/* The block that a call is about.  Later versions may add fields at the end. */
typedef struct b2c_block {
    const b2c_schunk *schunk; /* whose chunk it is; NULL for b2c_compress() and the like */
    int64_t nchunk;           /* number of the chunk in it, else B2C_NO_NUMBER */
    uint64_t chunk_at;        /* decoded bytes of the schunk in front of the chunk */
    uint32_t nblock;          /* number of the block in the chunk */
    uint32_t block_at;        /* decoded bytes of the chunk in front of the block */
    uint32_t block_len;       /* decoded bytes of the block */
    uint32_t typesize;        /* bytes of an item; of a chunk alone as its header tells, 1…255 */
    uint8_t meta;             /* codec_meta, or the filter's meta */
    uint8_t clevel;           /* 1…9 when compressing, else 0 */
    uint32_t ndim;            /* of the array that the schunk is; 0: none */
    const uint32_t *blockshape; /* items of its blocks along each dimension; NULL when ndim is 0 */
} b2c_block;

/*
 * A codec.  encode(): the n bytes at src become at most cap >= n bytes at dst; *dst_len is 0 when
 * they do not get fewer, and they are then stored as they are.  decode(): the reverse, into exactly
 * n bytes; the input may be anything.  Both see a block, or with B2C_SPLIT_ALWAYS one of its
 * streams.
 */
typedef struct b2c_codec_plugin {
    uint32_t size;   /* sizeof(b2c_codec_plugin) */
    uint8_t id;      /* 160…255; 32…159 when it is the one that is registered with the format */
    uint8_t version; /* of its streams, stored in byte 1 of chunks; 1 if there is but one */
    const char *name; /* copied */
    void *user;       /* passed to the functions */
    int (*encode)(void *user, const b2c_block *block, const void *src, size_t n, void *dst,
                  size_t cap, size_t *dst_len);
    int (*decode)(void *user, const b2c_block *block, const void *src, size_t src_len, void *dst,
                  size_t n);
} b2c_codec_plugin;

/* A filter.  Both functions turn the n bytes of a block at src into n bytes at dst. */
typedef struct b2c_filter_plugin {
    uint32_t size; /* sizeof(b2c_filter_plugin) */
    uint8_t id;    /* as for codecs */
    const char *name;
    void *user;
    int (*forward)(void *user, const b2c_block *block, const void *src, void *dst, size_t n);
    int (*backward)(void *user, const b2c_block *block, const void *src, void *dst, size_t n);
} b2c_filter_plugin;

/*
 * Registers a codec or filter for the whole process and for good, from any thread.
 * B2C_E_ARGUMENT, B2C_E_MEMORY; B2C_E_EXISTS when the number is taken.
 */
B2C_API B2C_MUST_USE b2c_status b2c_register_codec(const b2c_codec_plugin *plugin, b2c_error *err);
B2C_API B2C_MUST_USE b2c_status b2c_register_filter(const b2c_filter_plugin *plugin,
                                                    b2c_error *err);

#define B2C_PLUGIN_CODEC  0
#define B2C_PLUGIN_FILTER 1

/* Called with B2C_PLUGIN_… and a number, 32…255, that nobody has registered; it may do so. */
typedef void b2c_plugin_loader(int kind, uint8_t id);

/* From then on it is called whenever such a number is met, on any thread; NULL: none. */
B2C_API void b2c_set_plugin_loader(b2c_plugin_loader *loader);

/* Makes the n bytes of a block at dst of the n bytes at src. */
typedef int b2c_block_fn(void *user, const b2c_block *block, const void *src, void *dst, size_t n);

/*
 * Pre-filters make what is compressed of what is given, post-filters what is read of what is
 * stored, block by block.  A NULL function removes one.  Those of a context are for b2c_compress(),
 * b2c_decompress() and b2c_getitem().  Those of a schunk are for its data, in arrays as the blocks
 * are stored; they are not kept in frames.  A call that writes a part of a chunk compresses all
 * of it again, with the pre-filter, from what is stored.  Ready chunks, special values and
 * metadata are not filtered.  Setting those of a schunk counts as an edit.
 */
B2C_API void b2c_ctx_set_prefilter(b2c_ctx *ctx, b2c_block_fn *fn, void *user);
B2C_API void b2c_ctx_set_postfilter(b2c_ctx *ctx, b2c_block_fn *fn, void *user);
B2C_API void b2c_schunk_set_prefilter(b2c_schunk *schunk, b2c_block_fn *fn, void *user);
B2C_API void b2c_schunk_set_postfilter(b2c_schunk *schunk, b2c_block_fn *fn, void *user);

/*
 * Appends nbytes that the function makes, with src NULL, in chunks of the schunk's chunksize; all
 * or nothing.  B2C_E_ARGUMENT when there is no chunksize.
 */
B2C_API B2C_MUST_USE b2c_status b2c_schunk_fill(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nbytes,
                                                b2c_block_fn *fn, void *user, b2c_error *err);

/* ---- N-dimensional arrays ---------------------------------------------- */

/*
 * Shapes of an array; all of format/b2nd's derived quantities follow from these.  'shape', 'chunks'
 * and 'blocks' are in items; the first ndim numbers of each count.
 */
typedef struct b2c_nd {
    uint32_t size;     /* sizeof(b2c_nd) */
    uint32_t ndim;     /* 0…16 */
    uint32_t itemsize; /* bytes */
    uint64_t shape[16];
    uint32_t chunks[16];
    uint32_t blocks[16];
} b2c_nd;

/* Checks shapes; on success the derived sizes fit the format.  B2C_E_ARGUMENT, B2C_E_LIMIT. */
B2C_API B2C_MUST_USE b2c_status b2c_nd_check(const b2c_nd *nd, b2c_error *err);

/*
 * Bytes of a chunk (block padding included), bytes of a block, number of chunks; 0 for what
 * b2c_nd_check() refuses.
 */
B2C_API uint64_t b2c_nd_chunksize(const b2c_nd *nd);
B2C_API uint64_t b2c_nd_blocksize(const b2c_nd *nd);
B2C_API uint64_t b2c_nd_nchunks(const b2c_nd *nd);

/*
 * The content of the b2nd metalayer; dtype is a NumPy dtype string, and nd->itemsize may be 0.
 * B2C_E_OUTPUT_SIZE: *dst_len is the size needed; otherwise as b2c_nd_check().
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_meta_encode(const b2c_nd *nd, const char *dtype,
                                                   size_t dtype_len, void *dst, size_t dst_cap,
                                                   size_t *dst_len, b2c_error *err);

/*
 * Reads it.  nd->itemsize is left 0: it is the schunk's business
 * (b2c_nd_from_schunk()).  The dtype string is meta[*dtype_at … + *dtype_len);
 * both 0 when the metalayer has none.  B2C_E_TRUNCATED, B2C_E_CORRUPT, B2C_E_UNSUPPORTED.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_meta_decode(const void *meta, size_t meta_len, b2c_nd *nd,
                                                   size_t *dtype_at, size_t *dtype_len,
                                                   b2c_error *err);

/*
 * The shapes of an open array (metalayer b2nd or caterva) with its item size,
 * checked against the schunk's chunks.  B2C_E_NOT_FOUND: not an array; B2C_E_LIMIT: more dimensions
 * than its limits allow; otherwise as b2c_nd_meta_decode().
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_from_schunk(const b2c_schunk *schunk, b2c_nd *nd,
                                                   b2c_error *err);

/*
 * The same, with the dtype string, which is not terminated by a zero: NULL and 0 when there is
 * none.  It belongs to the schunk and stays until that is changed, refreshed or freed.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_open(const b2c_schunk *schunk, b2c_nd *nd,
                                            const void **dtype, size_t *dtype_len, b2c_error *err);

/*
 * Whether the chunks of an array are as many, and each of the size, that its shapes ask for; none
 * is read.  B2C_E_TRUNCATED: there are too few; B2C_E_CORRUPT.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_check_chunks(const b2c_schunk *schunk, const b2c_nd *nd,
                                                    b2c_error *err);

/*
 * Reads the box start[d], start[d] + step[d], … (count[d] items, step >= 1)
 * into dst as a C-ordered array of shape count, touching only the blocks
 * needed.  B2C_E_RANGE when the box leaves the shape, B2C_E_OUTPUT_SIZE.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_read(const b2c_schunk *schunk, b2c_ctx *ctx,
                                            const b2c_nd *nd, const uint64_t *start,
                                            const uint64_t *count, const uint64_t *step, void *dst,
                                            size_t dst_cap, b2c_error *err);

/*
 * Compresses chunks of an array and appends them: those from number 'first', which must be the next
 * one, on.  Together they must make a box, as one chunk or all of them do: 'src' is that box, as
 * far as it lies inside the array's shape, C-ordered.  B2C_E_ARGUMENT.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_append_chunks(b2c_schunk *schunk, b2c_ctx *ctx,
                                                     const b2c_nd *nd, uint64_t first,
                                                     uint64_t nchunks, const void *src,
                                                     size_t src_len, b2c_error *err);

/*
 * Reads one item; 'coord' has nd->ndim numbers.  kept: only from what the context keeps of earlier
 * small reads, which takes no reading or decoding; B2C_E_NOT_FOUND when its block is not there.
 * Otherwise as b2c_nd_read() of a box of one item.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_read_item(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                 const b2c_nd *nd, const uint64_t *coord, int kept,
                                                 void *dst, size_t dst_cap, b2c_error *err);

/*
 * Single places along some axes, in any order and with repeats, and a box along the others.  Places
 * are given one by one, or as all combinations of coordinates along each of their axes.
 */
typedef struct b2c_nd_places {
    uint32_t size; /* sizeof(b2c_nd_places) */
    uint32_t naxes;
    uint32_t axes[16]; /* those of the places, ascending */
    uint64_t nplaces;
    const uint64_t *coords; /* naxes numbers for each place; or, with ncoords, naxes lists */
    /* The box, as in b2c_nd_read(): a number for every axis of the array; those of 'axes' do not
     * matter.  May be NULL when naxes is nd->ndim. */
    const uint64_t *start, *count, *step;
    /* NULL, or the lengths of the lists in coords, whose product is nplaces.  The places are then
     * all combinations, C-ordered; the time and memory for their coordinates is that of the lists.
     */
    const uint64_t *ncoords;
} b2c_nd_places;

/*
 * Reads the boxes at all places into dst, a C-ordered array of shape (nplaces, counts of the
 * other axes).  Each block is decoded once, whatever the order of places.  B2C_E_RANGE when a place
 * or the box is outside the shape, B2C_E_OUTPUT_SIZE.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_read_places(const b2c_schunk *schunk, b2c_ctx *ctx,
                                                   const b2c_nd *nd, const b2c_nd_places *places,
                                                   void *dst, size_t dst_cap, b2c_error *err);

/*
 * Writes src, a C-ordered array of shape count or one item for all places, to a box as in
 * b2c_nd_read().  Chunks of which the box holds all items are replaced, others decoded, changed and
 * compressed again; all or nothing.  B2C_E_RANGE when the box leaves the shape; B2C_E_ARGUMENT when
 * src_len is neither the size of the box nor that of an item.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_write(b2c_schunk *schunk, b2c_ctx *ctx, const b2c_nd *nd,
                                             const uint64_t *start, const uint64_t *count,
                                             const uint64_t *step, const void *src, size_t src_len,
                                             b2c_error *err);

/*
 * Writes src, of the shape that b2c_nd_read_places() gives or one item, to the boxes at all places.
 * Of several rows for one place the last counts.  Each chunk is decoded and compressed once; all or
 * nothing.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_write_places(b2c_schunk *schunk, b2c_ctx *ctx,
                                                    const b2c_nd *nd, const b2c_nd_places *places,
                                                    const void *src, size_t src_len,
                                                    b2c_error *err);

/*
 * Gives the array another shape of as many dimensions; chunks and blocks stay, items keep their
 * coordinates, new ones are zero.  'nd' is the array as b2c_nd_from_schunk() gives it, and has the
 * new shape afterwards; all or nothing.  B2C_E_ARGUMENT, B2C_E_LIMIT.  (A rollback of a
 * transaction around it does not change 'nd' back.)
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_resize(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd,
                                              const uint64_t *shape, b2c_error *err);

/*
 * Makes an axis longer by n, as b2c_nd_resize() does, and writes src, a C-ordered array of what is
 * new, there; all or nothing.  B2C_E_ARGUMENT also when src_len is not the size of that.
 */
B2C_API B2C_MUST_USE b2c_status b2c_nd_append(b2c_schunk *schunk, b2c_ctx *ctx, b2c_nd *nd,
                                              uint32_t axis, uint64_t n, const void *src,
                                              size_t src_len, b2c_error *err);

/* ---- Repair ------------------------------------------------------------ */

/* What a note is about. */
#define B2C_PART_FRAME  0 /* header, index or trailer */
#define B2C_PART_CHUNK  1
#define B2C_PART_META   2
#define B2C_PART_VLMETA 3
#define B2C_PART_ARRAY  4 /* the shape of an array */

typedef struct b2c_repair_note {
    int part;               /* B2C_PART_… */
    const char *name;       /* of the metalayer, or NULL */
    uint64_t nchunks;       /* so many chunks are lost, from error->chunk on; 0: none by this */
    const b2c_error *error; /* what is wrong, and where */
} b2c_repair_note;

typedef struct b2c_repair_params {
    uint32_t size;            /* sizeof, set by b2c_repair_params_init() */
    uint8_t storage;          /* of the new one: B2C_STORAGE_FILE (default) or _DIR */
    uint8_t drop_lost;        /* 1: lost chunks are left out (not of arrays); 0: zeros */
    uint8_t replaces;         /* 1: takes the place of what is there; default 0 */
    uint64_t offset;          /* of the damaged frame in its file */
    const b2c_limits *limits; /* NULL: the defaults */
    void *handle;             /* passed to the functions, which may be NULL; not 0: stop */
    int (*note)(void *handle, const b2c_repair_note *note);
    int (*progress)(void *handle, uint64_t done, uint64_t total); /* chunks */
    /*
     * Asked about an array whose shape is sound, with the damaged super-chunk, whose metalayers can
     * be read.  Its items become plain bytes, "|S<itemsize>", where *is_known is set to 0.
     */
    int (*dtype)(void *handle, const b2c_schunk *damaged, int *is_known);
} b2c_repair_params;

B2C_API void b2c_repair_params_init(b2c_repair_params *params);

typedef struct b2c_repair_result {
    uint64_t nchunks; /* of the new frame */
    uint64_t nkept;
    uint64_t nlost;
    uint8_t has_index; /* 0: the order of the chunks is that of the file */
} b2c_repair_result;

/*
 * b2c_repair() writes a new file or directory 'to' of all that is sound in the damaged file or
 * directory 'from', which is not changed.  It is there whole or not at all; unless it replaces what
 * is there, as in b2c_schunk_new(), there must be nothing.  Chunks that cannot be read, or
 * differ from their checksums, become zeros, so that others stay where they are; in frames of
 * variable chunk sizes they are left out unless the sizes of the others tell what is missing.
 * Without an index the chunks are found by their headers.
 * An array keeps its shape.  What is wrong is told to params->note.  The new frame is within the
 * limits: sizes that are not are forgotten.
 *
 *   B2C_E_FORMAT    nothing that looks like a frame or a chunk is there
 *   B2C_E_LIMIT     the sound chunks together decode to more than max_nbytes
 *   B2C_E_CALLBACK  a function returned something else than 0, which is in sys_errno
 *   B2C_E_IO        err->field is "to" when that cannot be written, else 'from' cannot be read
 *   B2C_E_EXISTS, B2C_E_MEMORY, B2C_E_ARGUMENT
 *
 * After a failure there is at 'to' what was there; or the new one, when only closing it failed and
 * it has replaced that.
 */
B2C_API B2C_MUST_USE b2c_status b2c_repair(const char *from, const char *to,
                                           const b2c_repair_params *params,
                                           b2c_repair_result *result, b2c_error *err);

/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
