#ifndef RIDEPULSE_CZLIB_H
#define RIDEPULSE_CZLIB_H

#include <zlib.h>

/* inflateInit2 and deflateInit2 are macros, which Swift does not import. 15 + 32 reads gzip and zlib,
   15 + 16 writes gzip. */
static inline int ridepulse_inflate_init(z_stream *stream) {
  return inflateInit2(stream, 15 + 32);
}

static inline int ridepulse_deflate_init(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
