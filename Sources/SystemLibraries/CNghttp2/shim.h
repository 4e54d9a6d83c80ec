#ifndef RIDEPULSE_CNGHTTP2_H
#define RIDEPULSE_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

// The event loop beneath an HTTP/2 session: Swift's Glibc module leaves these two headers out.
#include <sys/epoll.h>
#include <sys/signalfd.h>

#endif
