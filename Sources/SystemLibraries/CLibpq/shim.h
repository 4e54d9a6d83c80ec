#ifndef RIDEPULSE_CLIBPQ_H
#define RIDEPULSE_CLIBPQ_H

#include <libpq-fe.h>

#endif
