#include "analysis/page/packed.h"

#include <stdlib.h>
#include <zlib.h>

#include "sim/check.h"
#include "sim/memory.h"

/* RFC 4648, section 4: three bytes are four characters; what is missing at the end is '='. */
static void write_base64(const unsigned char *bytes, size_t count, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const size_t have = count - i < 3 ? count - i : 3;
        const unsigned three = (unsigned)bytes[i] << 16 |
                               (have > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                               (have > 2 ? (unsigned)bytes[i + 2] : 0);
        const char four[] = {digits[three >> 18], digits[three >> 12 & 63],
                             have > 1 ? digits[three >> 6 & 63] : '=',
                             have > 2 ? digits[three & 63] : '='};
        fwrite(four, 1, sizeof four, out);
    }
}

void packed_write(const char *text, size_t bytes, FILE *out)
{
    uLongf size = compressBound((uLong)bytes);
    unsigned char *packed = memory_take(size);
    const int code = compress((Bytef *)packed, &size, (const Bytef *)text, (uLong)bytes);
    CHECK(code == Z_OK || code == Z_MEM_ERROR);
    if (code != Z_OK)
        memory_refused(bytes);
    write_base64(packed, size, out);
    free(packed);
}
