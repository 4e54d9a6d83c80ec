#include "CMigrations.h"

#include <stddef.h>

/* One block and one line for each file of sql/, in order. PostgresStoreTests hold this list
   against the folder, so a file that is forgotten here turns them red. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char text_0001[] = {
#embed "../../../sql/0001_rides.sql" suffix(, 0)
};

static const char text_0002[] = {
#embed "../../../sql/0002_engine.sql" suffix(, 0)
};

static const char text_0003[] = {
#embed "../../../sql/0003_watch.sql" suffix(, 0)
};

static const char text_0004[] = {
#embed "../../../sql/0004_time.sql" suffix(, 0)
};

static const char text_0005[] = {
#embed "../../../sql/0005_cards.sql" suffix(, 0)
};

static const char text_0006[] = {
#embed "../../../sql/0006_parked.sql" suffix(, 0)
};

static const char text_0007[] = {
#embed "../../../sql/0007_ledger_days.sql" suffix(, 0)
};

static const char text_0008[] = {
#embed "../../../sql/0008_phones.sql" suffix(, 0)
};

static const char text_0009[] = {
#embed "../../../sql/0009_legacy.sql" suffix(, 0)
};

static const char text_0010[] = {
#embed "../../../sql/0010_channels.sql" suffix(, 0)
};

static const char text_0011[] = {
#embed "../../../sql/0011_broadcasts.sql" suffix(, 0)
};

static const char text_0012[] = {
#embed "../../../sql/0012_api.sql" suffix(, 0)
};

static const char text_0013[] = {
#embed "../../../sql/0013_rights.sql" suffix(, 0)
};

static const char text_0014[] = {
#embed "../../../sql/0014_watched_rows.sql" suffix(, 0)
};

static const char text_0015[] = {
#embed "../../../sql/0015_watch.sql" suffix(, 0)
};

static const char text_0016[] = {
#embed "../../../sql/0016_token_outcomes.sql" suffix(, 0)
};

static const char text_0017[] = {
#embed "../../../sql/0017_people.sql" suffix(, 0)
};
static const char text_0018[] = {
#embed "../../../sql/0018_reason_codes.sql" suffix(, 0)
};

const struct ridepulse_migration ridepulse_migrations[] = {
    {"0001_rides", text_0001},
    {"0002_engine", text_0002},
    {"0003_watch", text_0003},
    {"0004_time", text_0004},
    {"0005_cards", text_0005},
    {"0006_parked", text_0006},
    {"0007_ledger_days", text_0007},
    {"0008_phones", text_0008},
    {"0009_legacy", text_0009},
    {"0010_channels", text_0010},
    {"0011_broadcasts", text_0011},
    {"0012_api", text_0012},
    {"0013_rights", text_0013},
    {"0014_watched_rows", text_0014},
    {"0015_watch", text_0015},
    {"0016_token_outcomes", text_0016},
    {"0017_people", text_0017},
    {"0018_reason_codes", text_0018},
    {NULL, NULL},
};
