#include "scenarios/import/reader/import_open.h"

#include <string.h>
#include <zlib.h>

#include "scenarios/language/file.h"
#include "sim/arena.h"

enum {
    SCRATCH_BYTES = 1 << 16,
    GZIP_ALONE = 16 /* added to the window: a header of gzip, no other */
};
static const struct packer {
    const char *magic;
    size_t bytes;
    const char *name, *command; /* NULL: it is read */
} packers[] = {
    {"\x1f\x8b", 2, "gzip", NULL},
    {"\x28\xb5\x2f\xfd", 4, "zstd", "zstd -d"},
    {"\xfd"
     "7zXZ",
     5, "xz", "xz -d"},
    {"BZh", 3, "bzip2", "bzip2 -d"},
    {"PK\x03\x04", 4, "zip", "unzip"},
};

static const struct packer *packer_of(const struct import_file *file)
{
    for (unsigned i = 0; i < sizeof packers / sizeof packers[0]; i++)
        if (file->bytes >= packers[i].bytes &&
            memcmp(file->text, packers[i].magic, packers[i].bytes) == 0)
            return &packers[i];
    return NULL;
}

/* One member of a gzip file behind another, until the bytes end or `most` are out. Counts where
 * `out` is NULL. Z_OK: good; else zlib's word for what is wrong. */
static int inflate_all(z_stream *z, unsigned char *out, size_t most, size_t *bytes)
{
    unsigned char scratch[SCRATCH_BYTES];
    int code = Z_OK;
    *bytes = 0;
    while (*bytes < most) {
        const size_t room = most - *bytes < SCRATCH_BYTES ? most - *bytes : SCRATCH_BYTES;
        z->next_out = out != NULL ? out + *bytes : scratch;
        z->avail_out = (uInt)room;
        code = inflate(z, Z_NO_FLUSH);
        *bytes += room - z->avail_out;
        if (code == Z_STREAM_END && z->avail_in == 0)
            return Z_OK;
        if (code == Z_STREAM_END)
            code = inflateReset(z);
        if (code != Z_OK)
            return code;
    }
    return code;
}

static int inflate_file(const struct import_file *file, unsigned char *out, size_t most,
                        size_t *bytes)
{
    z_stream z = {.next_in = (z_const Bytef *)file->text, .avail_in = (uInt)file->bytes};
    int code = inflateInit2(&z, MAX_WBITS + GZIP_ALONE);
    if (code != Z_OK)
        return code;
    code = inflate_all(&z, out, most, bytes);
    inflateEnd(&z);
    return code;
}

static bool gunzip(struct arena *arena, size_t most, struct import_file *file, struct error *error)
{
    size_t bytes = 0;
    const int code =
        file->bytes > UINT32_MAX ? Z_BUF_ERROR : inflate_file(file, NULL, most + 1, &bytes);
    if (code != Z_OK)
        return error_set(error, "%s: packed by gzip, and %s: copy it again, or try gzip -t",
                         file->path, code == Z_BUF_ERROR ? "cut" : "damaged");
    char *text = arena_alloc(arena, bytes + 1, 1);
    size_t again = 0;
    if (inflate_file(file, (unsigned char *)text, bytes, &again) != Z_OK || again != bytes)
        return error_set(error, "%s: cannot be unpacked", file->path);
    text[bytes] = '\0';
    file->text = text;
    file->bytes = bytes;
    return true;
}

bool import_unpack(struct arena *arena, size_t most, struct import_file *file, struct error *error)
{
    const struct packer *packer = packer_of(file);
    if (packer == NULL)
        return true;
    if (packer->command == NULL)
        return gunzip(arena, most, file, error);
    return error_set(error, "%s: packed by %s; unpack it first: %s %s", file->path, packer->name,
                     packer->command, file->path);
}

bool import_open(struct arena *arena, const char *path, size_t most, struct import_file *out,
                 struct error *error)
{
    struct file_text whole;
    if (!file_read(arena, path, most, false, &whole, error))
        return false;
    *out = (struct import_file){path, whole.text, whole.bytes};
    return import_unpack(arena, most, out, error);
}
