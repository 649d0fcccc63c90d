/*
 * test_zstd_tables.c: the tables of third_party/zstd/compress/default_ctables.h are those that the
 * library would build.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "harness.h"

#include <common/zstd_internal.h>
#include <compress/default_ctables.h>

static void check(const void *table, size_t nbytes, const short *norm, uint32_t max, uint32_t log)
{
    FSE_CTable built[FSE_CTABLE_SIZE_U32(MaxFSELog, MaxSeq)];
    uint32_t wksp[FSE_BUILD_CTABLE_WORKSPACE_SIZE_U32(MaxSeq, MaxFSELog)];
    CHECK_EQ(FSE_buildCTable_wksp(built, norm, max, log, wksp, sizeof wksp), 0);
    CHECK_EQ(nbytes, FSE_CTABLE_SIZE(log, max));
    CHECK(memcmp(table, built, nbytes) == 0);
}

int main(void)
{
    check(&LL_defaultCTable, sizeof LL_defaultCTable, LL_defaultNorm, MaxLL, LL_defaultNormLog);
    check(&ML_defaultCTable, sizeof ML_defaultCTable, ML_defaultNorm, MaxML, ML_defaultNormLog);
    check(&OF_defaultCTable, sizeof OF_defaultCTable, OF_defaultNorm, DefaultMaxOff,
          OF_defaultNormLog);
    return RESULT();
}
