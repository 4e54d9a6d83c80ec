#include "CMigrations.h"

#include <stddef.h>

/* One block and one line for each file of sql/, in order. PostgresStoreTests compare this list with
   the folder, so that a forgotten file fails a test. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char text_0001[] = {
#embed "../../../sql/0001_rides.sql" suffix(, 0)
};

static const char text_0002[] = {
#embed "../../../sql/0002_phones.sql" suffix(, 0)
};

static const char text_0003[] = {
#embed "../../../sql/0003_functions.sql" suffix(, 0)
};

static const char text_0004[] = {
#embed "../../../sql/0004_triggers.sql" suffix(, 0)
};

static const char text_0005[] = {
#embed "../../../sql/0005_ledger.sql" suffix(, 0)
};

static const char text_0006[] = {
#embed "../../../sql/0006_channels.sql" suffix(, 0)
};

static const char text_0007[] = {
#embed "../../../sql/0007_watched_rows.sql" suffix(, 0)
};

static const char text_0008[] = {
#embed "../../../sql/0008_watch.sql" suffix(, 0)
};

static const char text_0009[] = {
#embed "../../../sql/0009_http_calls.sql" suffix(, 0)
};

const struct ridepulse_migration ridepulse_migrations[] = {
    {"0001_rides", text_0001},
    {"0002_phones", text_0002},
    {"0003_functions", text_0003},
    {"0004_triggers", text_0004},
    {"0005_ledger", text_0005},
    {"0006_channels", text_0006},
    {"0007_watched_rows", text_0007},
    {"0008_watch", text_0008},
    {"0009_http_calls", text_0009},
    {NULL, NULL},
};
