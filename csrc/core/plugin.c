/*
 * plugin.c: what users have registered under a number, for the whole process and for good.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "plugin.h"

/* Atomic and not locked: a fork may happen at any moment. */
static b2c_plugin_loader *the_loader;

bool b2i_registry_add(b2i_registry *registry, uint8_t id, const void *entry)
{
    const void *none = NULL;
    return __atomic_compare_exchange_n(&registry->entries[id], &none, entry, false,
                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

const void *b2i_registry_get(b2i_registry *registry, uint8_t id)
{
    const void *entry = __atomic_load_n(&registry->entries[id], __ATOMIC_ACQUIRE);
    if (entry == NULL) {
        b2c_plugin_loader *loader = __atomic_load_n(&the_loader, __ATOMIC_ACQUIRE);
        if (loader != NULL) {
            loader(registry->kind, id);
            entry = __atomic_load_n(&registry->entries[id], __ATOMIC_ACQUIRE);
        }
    }
    return entry;
}

void b2i_plugin_set_loader(b2c_plugin_loader *loader)
{
    __atomic_store_n(&the_loader, loader, __ATOMIC_RELEASE);
}

b2c_status b2i_fail_callback(b2c_error *err, const char *name, int result, const char *what)
{
    (void)b2i_fail_field(err, B2C_E_CALLBACK, B2C_NO_OFFSET, name, what);
    if (err != NULL) {
        err->sys_errno = result;
    }
    return B2C_E_CALLBACK;
}
