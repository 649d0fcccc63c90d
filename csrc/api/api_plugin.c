/*
 * api_plugin.c: public functions for code of the user's: checks arguments, then calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "edit.h"
#include "need.h"
#include "plugin.h"

b2c_status b2c_register_codec(const b2c_codec_plugin *plugin, b2c_error *err)
{
    NEED(plugin);
    NEED(plugin->name);
    NEED(plugin->encode);
    NEED(plugin->decode);
    if (plugin->size != sizeof *plugin) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "size",
                              "must be sizeof(b2c_codec_plugin)");
    }
    return b2i_codec_register(plugin, err);
}

b2c_status b2c_register_filter(const b2c_filter_plugin *plugin, b2c_error *err)
{
    NEED(plugin);
    NEED(plugin->name);
    NEED(plugin->forward);
    NEED(plugin->backward);
    if (plugin->size != sizeof *plugin) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "size",
                              "must be sizeof(b2c_filter_plugin)");
    }
    return b2i_filter_register(plugin, err);
}

void b2c_set_plugin_loader(b2c_plugin_loader *loader)
{
    b2i_plugin_set_loader(loader);
}

void b2c_ctx_set_prefilter(b2c_ctx *ctx, b2c_block_fn *fn, void *user)
{
    if (ctx != NULL) {
        ctx->pre = (b2i_hook){ fn, user };
    }
}

void b2c_ctx_set_postfilter(b2c_ctx *ctx, b2c_block_fn *fn, void *user)
{
    if (ctx != NULL) {
        ctx->post = (b2i_hook){ fn, user };
    }
}

void b2c_schunk_set_prefilter(b2c_schunk *schunk, b2c_block_fn *fn, void *user)
{
    if (schunk != NULL) {
        schunk->pre = (b2i_hook){ fn, user };
    }
}

void b2c_schunk_set_postfilter(b2c_schunk *schunk, b2c_block_fn *fn, void *user)
{
    if (schunk != NULL) {
        schunk->post = (b2i_hook){ fn, user };
    }
}

b2c_status b2c_schunk_fill(b2c_schunk *schunk, b2c_ctx *ctx, uint64_t nbytes, b2c_block_fn *fn,
                           void *user, b2c_error *err)
{
    NEED(schunk);
    NEED(ctx);
    NEED(fn);
    RETURN_EDIT(schunk, b2i_schunk_fill(schunk, ctx, nbytes, (b2i_hook){ fn, user }, err));
}
