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
#embed "../../../sql/0003_token_outcomes.sql" suffix(, 0)
};

static const char text_0004[] = {
#embed "../../../sql/0004_ledger.sql" suffix(, 0)
};

static const char text_0005[] = {
#embed "../../../sql/0005_retention.sql" suffix(, 0)
};

static const char text_0006[] = {
#embed "../../../sql/0006_record.sql" suffix(, 0)
};

static const char text_0007[] = {
#embed "../../../sql/0007_deliveries.sql" suffix(, 0)
};

static const char text_0008[] = {
#embed "../../../sql/0008_search.sql" suffix(, 0)
};

static const char text_0009[] = {
#embed "../../../sql/0009_events.sql" suffix(, 0)
};

static const char text_0010[] = {
#embed "../../../sql/0010_triggers.sql" suffix(, 0)
};

static const char text_0011[] = {
#embed "../../../sql/0011_registration.sql" suffix(, 0)
};

static const char text_0012[] = {
#embed "../../../sql/0012_limits.sql" suffix(, 0)
};

static const char text_0013[] = {
#embed "../../../sql/0013_sign_out.sql" suffix(, 0)
};

static const char text_0014[] = {
#embed "../../../sql/0014_channels.sql" suffix(, 0)
};

static const char text_0015[] = {
#embed "../../../sql/0015_raw_pushes.sql" suffix(, 0)
};

static const char text_0016[] = {
#embed "../../../sql/0016_http_calls.sql" suffix(, 0)
};

static const char text_0017[] = {
#embed "../../../sql/0017_database_place.sql" suffix(, 0)
};

static const char text_0018[] = {
#embed "../../../sql/0018_watches.sql" suffix(, 0)
};

static const char text_0019[] = {
#embed "../../../sql/0019_watch_mapping.sql" suffix(, 0)
};

static const char text_0020[] = {
#embed "../../../sql/0020_watch_values.sql" suffix(, 0)
};

static const char text_0021[] = {
#embed "../../../sql/0021_row_changes.sql" suffix(, 0)
};

static const char text_0022[] = {
#embed "../../../sql/0022_watch_queries.sql" suffix(, 0)
};

static const char text_0023[] = {
#embed "../../../sql/0023_watch.sql" suffix(, 0)
};

static const char text_0024[] = {
#embed "../../../sql/0024_backfill_queries.sql" suffix(, 0)
};

static const char text_0025[] = {
#embed "../../../sql/0025_backfill.sql" suffix(, 0)
};

static const char text_0026[] = {
#embed "../../../sql/0026_erasure.sql" suffix(, 0)
};

static const char text_0027[] = {
#embed "../../../sql/0027_forget.sql" suffix(, 0)
};

static const char text_0028[] = {
#embed "../../../sql/0028_entered_states.sql" suffix(, 0)
};

static const char text_0029[] = {
#embed "../../../sql/0029_android_cards.sql" suffix(, 0)
};

static const char text_0030[] = {
#embed "../../../sql/0030_pauses.sql" suffix(, 0)
};

static const char text_0031[] = {
#embed "../../../sql/0031_rule_sets.sql" suffix(, 0)
};

const struct ridepulse_migration ridepulse_migrations[] = {
    {"0001_rides", text_0001},
    {"0002_phones", text_0002},
    {"0003_token_outcomes", text_0003},
    {"0004_ledger", text_0004},
    {"0005_retention", text_0005},
    {"0006_record", text_0006},
    {"0007_deliveries", text_0007},
    {"0008_search", text_0008},
    {"0009_events", text_0009},
    {"0010_triggers", text_0010},
    {"0011_registration", text_0011},
    {"0012_limits", text_0012},
    {"0013_sign_out", text_0013},
    {"0014_channels", text_0014},
    {"0015_raw_pushes", text_0015},
    {"0016_http_calls", text_0016},
    {"0017_database_place", text_0017},
    {"0018_watches", text_0018},
    {"0019_watch_mapping", text_0019},
    {"0020_watch_values", text_0020},
    {"0021_row_changes", text_0021},
    {"0022_watch_queries", text_0022},
    {"0023_watch", text_0023},
    {"0024_backfill_queries", text_0024},
    {"0025_backfill", text_0025},
    {"0026_erasure", text_0026},
    {"0027_forget", text_0027},
    {"0028_entered_states", text_0028},
    {"0029_android_cards", text_0029},
    {"0030_pauses", text_0030},
    {"0031_rule_sets", text_0031},
    {NULL, NULL},
};
