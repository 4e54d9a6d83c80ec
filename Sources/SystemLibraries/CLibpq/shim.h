#ifndef RIDEPULSE_CLIBPQ_H
#define RIDEPULSE_CLIBPQ_H

#include <libpq-fe.h>

/* Wakes the thread that polls a connection; Swift's Glibc module leaves it out. */
#include <sys/eventfd.h>

#endif
