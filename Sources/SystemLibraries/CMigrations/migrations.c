#include "CMigrations.h"

#include <stddef.h>

/* One block and one line for each file of sql/, in order. PostgresStoreTests hold this list
   against the folder, so a file that is forgotten here turns them red. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char text_0001[] = {
#embed "../../../sql/0001_init.sql" suffix(, 0)
};

const struct ridepulse_migration ridepulse_migrations[] = {
    {"0001_init", text_0001},
    {NULL, NULL},
};
