/*
 * user_filter.c: filters that users have registered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "user_filter.h"
#include "alloc.h"
#include "plugin.h"

#include <assert.h>

enum { FIRST_ID = 32 };

typedef struct user_filter {
    b2c_filter_plugin plugin;
    char name[]; /* as long as it is */
} user_filter;

static b2i_registry registry = { .kind = B2C_PLUGIN_FILTER };

static const user_filter *find(uint8_t id)
{
    return id < FIRST_ID ? NULL : b2i_registry_get(&registry, id);
}

bool b2i_user_filter_exists(uint8_t id)
{
    return find(id) != NULL;
}

const char *b2i_user_filter_name(uint8_t id)
{
    const user_filter *u = find(id);
    return u == NULL ? NULL : u->name;
}

b2c_status b2i_user_filter_run(uint8_t id, uint8_t meta, const b2c_block *block, bool forward,
                               const uint8_t *src, size_t n, uint8_t *dst, b2c_error *err)
{
    const user_filter *u = find(id);
    assert(u != NULL); /* the pipeline was checked, and nothing is ever removed */
    const b2c_filter_plugin *p = &u->plugin;
    b2c_block b = *block;
    b.meta = meta;
    int result = (forward ? p->forward : p->backward)(p->user, &b, src, dst, n);
    return result == 0 ? B2C_OK
                       : b2i_fail_callback(err, u->name, result,
                                           forward ? "the filter's forward function failed"
                                                   : "the filter's backward function failed");
}

b2c_status b2i_filter_register(const b2c_filter_plugin *plugin, b2c_error *err)
{
    size_t name_len = strlen(plugin->name) + 1;
    if (plugin->id < FIRST_ID) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "id",
                              "the numbers of user-defined filters are from 160 to 255");
    }
    user_filter *u = b2i_malloc(sizeof *u + name_len);
    if (u == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(u->name, plugin->name, name_len);
    u->plugin = *plugin;
    u->plugin.name = u->name;
    if (b2i_filter_is_built_in(plugin->id) || !b2i_registry_add(&registry, plugin->id, u)) {
        b2i_free(u);
        return b2i_fail_field(err, B2C_E_EXISTS, B2C_NO_OFFSET, "id",
                              "there is a filter with this number already");
    }
    return B2C_OK;
}
