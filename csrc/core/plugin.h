/*
 * plugin.h: what users have registered under a number, for the whole process and for good.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef B2I_PLUGIN_H
#define B2I_PLUGIN_H

#include "status.h"

#include <stdbool.h>

/*
 * A slot per number; all zero is the empty one.  Lookups take no lock, entries are never removed.
 */
typedef struct b2i_registry {
    int kind; /* B2C_PLUGIN_… */
    const void *entries[256];
} b2i_registry;

/* False: the number is taken. */
bool b2i_registry_add(b2i_registry *registry, uint8_t id, const void *entry);

/* The entry of a number, or NULL; before that the loader is asked for it, if there is one. */
const void *b2i_registry_get(b2i_registry *registry, uint8_t id);

void b2i_plugin_set_loader(b2c_plugin_loader *loader);

/* B2C_E_CALLBACK: the user's function 'name' returned 'result'. */
b2c_status b2i_fail_callback(b2c_error *err, const char *name, int result, const char *what);

#endif
