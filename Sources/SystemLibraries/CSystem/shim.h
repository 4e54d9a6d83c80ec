#ifndef RIDEPULSE_CSYSTEM_H
#define RIDEPULSE_CSYSTEM_H

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>

/* Swift's Glibc module leaves these headers out. */
#include <elf.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>

/* prctl is a variadic function, which Swift cannot call. */
static inline int ridepulse_set_undumpable(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* M_ARENA_MAX is a macro with a cast, which Swift does not import everywhere. */
static inline void ridepulse_limit_arenas(int count) {
  mallopt(M_ARENA_MAX, count);
}

/* Names the calling thread; the kernel keeps the first 15 bytes. */
static inline void ridepulse_set_thread_name(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* Swift's Glibc module has no O_TMPFILE: glibc declares it for _GNU_SOURCE only. */
static inline int ridepulse_tmpfile_flag(void) {
#ifdef O_TMPFILE
  return O_TMPFILE;
#else
  return 020000000 | O_DIRECTORY;
#endif
}

#endif
