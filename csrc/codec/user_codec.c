/*
 * user_codec.c: codecs that users have registered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "user_codec.h"
#include "alloc.h"
#include "plugin.h"

#include <stdio.h>

enum { FIRST_ID = 32 };

typedef struct user_codec {
    b2i_codec codec; /* first: the public face is the address of the whole */
    b2c_codec_plugin plugin;
    char version[4];
    char name[]; /* as long as it is */
} user_codec;

static b2i_registry registry = { .kind = B2C_PLUGIN_CODEC };

static b2c_status encode(const b2i_codec *codec, const b2c_block *block, b2i_span src, uint8_t *dst,
                         size_t cap, size_t *out_len, b2c_error *err)
{
    const b2c_codec_plugin *p = &((const user_codec *)codec)->plugin;
    size_t len = 0;
    int result = p->encode(p->user, block, src.p, src.n, dst, cap, &len);
    if (result != 0) {
        return b2i_fail_callback(err, codec->name, result, "the codec's encode function failed");
    }
    if (len > cap) {
        return b2i_fail_callback(err, codec->name, 0,
                                 "the codec's encode function made more than there is room for");
    }
    *out_len = len < src.n ? len : 0;
    return B2C_OK;
}

static b2c_status decode(const b2i_codec *codec, const b2c_block *block, b2i_span src, uint8_t *dst,
                         size_t n, b2c_error *err)
{
    const b2c_codec_plugin *p = &((const user_codec *)codec)->plugin;
    int result = p->decode(p->user, block, src.p, src.n, dst, n);
    return result == 0
               ? B2C_OK
               : b2i_fail_callback(err, codec->name, result, "the codec's decode function failed");
}

const b2i_codec *b2i_user_codec(uint8_t id)
{
    return id < FIRST_ID ? NULL : b2i_registry_get(&registry, id);
}

const char *b2i_user_codec_version(const b2i_codec *codec)
{
    return ((const user_codec *)codec)->version;
}

b2c_status b2i_codec_register(const b2c_codec_plugin *plugin, b2c_error *err)
{
    size_t name_len = strlen(plugin->name) + 1;
    if (plugin->id < FIRST_ID) {
        return b2i_fail_field(err, B2C_E_ARGUMENT, B2C_NO_OFFSET, "id",
                              "the numbers of user-defined codecs are from 160 to 255");
    }
    user_codec *u = b2i_calloc(sizeof *u + name_len);
    if (u == NULL) {
        return b2i_fail_memory(err);
    }
    memcpy(u->name, plugin->name, name_len);
    (void)snprintf(u->version, sizeof u->version, "%u", (unsigned)plugin->version);
    u->plugin = *plugin;
    u->plugin.name = u->name;
    u->codec = (b2i_codec){ .id = plugin->id,
                            .format = B2I_FORMAT_BY_ID,
                            .stream_version = plugin->version,
                            .name = u->name,
                            .library = u->name,
                            .encode_block = encode,
                            .decode_block = decode };
    if (b2i_codec_is_built_in(plugin->id) || !b2i_registry_add(&registry, plugin->id, u)) {
        b2i_free(u);
        return b2i_fail_field(err, B2C_E_EXISTS, B2C_NO_OFFSET, "id",
                              "there is a codec with this number already");
    }
    return B2C_OK;
}
