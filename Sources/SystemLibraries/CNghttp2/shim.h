#ifndef RIDEPULSE_CNGHTTP2_H
#define RIDEPULSE_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

#endif
