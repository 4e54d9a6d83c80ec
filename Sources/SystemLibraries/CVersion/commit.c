#include "CVersion.h"

/* Package.swift defines it in release builds. A target of its own, so that another commit
   recompiles only the target that uses it. */
#ifndef RIDEPULSE_COMMIT
#define RIDEPULSE_COMMIT ""
#endif

static const char commit[] = RIDEPULSE_COMMIT;

unsigned char ridepulse_commit(unsigned index) {
  return index < sizeof commit ? (unsigned char)commit[index] : 0;
}
