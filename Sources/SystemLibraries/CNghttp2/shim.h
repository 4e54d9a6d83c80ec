#ifndef RIDEPULSE_CNGHTTP2_H
#define RIDEPULSE_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

// For the event loop of an HTTP/2 session: Swift's Glibc module omits these two headers.
#include <sys/epoll.h>
#include <sys/signalfd.h>

#endif
