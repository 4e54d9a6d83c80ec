#ifndef RIDEPULSE_CSYSTEM_H
#define RIDEPULSE_CSYSTEM_H

#include <sys/prctl.h>

/* Swift's Glibc module leaves this header out. */
#include <sys/eventfd.h>

/* prctl is a variadic function, which Swift cannot call. */
static inline int ridepulse_set_undumpable(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Names the calling thread; the kernel keeps the first 15 bytes. */
static inline void ridepulse_set_thread_name(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
