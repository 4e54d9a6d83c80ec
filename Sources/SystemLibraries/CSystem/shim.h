#ifndef RIDEPULSE_CSYSTEM_H
#define RIDEPULSE_CSYSTEM_H

#include <sys/prctl.h>

/* prctl is a variadic function, which Swift cannot call. */
static inline int ridepulse_set_undumpable(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

#endif
