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
#embed "../../../sql/0008_watch_problems.sql" suffix(, 0)
};

static const char text_0009[] = {
#embed "../../../sql/0009_watch_mapping.sql" suffix(, 0)
};

static const char text_0010[] = {
#embed "../../../sql/0010_watch_triggers.sql" suffix(, 0)
};

static const char text_0011[] = {
#embed "../../../sql/0011_row_changes.sql" suffix(, 0)
};

static const char text_0012[] = {
#embed "../../../sql/0012_backfill.sql" suffix(, 0)
};

static const char text_0013[] = {
#embed "../../../sql/0013_backfill_batch.sql" suffix(, 0)
};

static const char text_0014[] = {
#embed "../../../sql/0014_people.sql" suffix(, 0)
};

static const char text_0015[] = {
#embed "../../../sql/0015_erasure.sql" suffix(, 0)
};

static const char text_0016[] = {
#embed "../../../sql/0016_forget.sql" suffix(, 0)
};

static const char text_0017[] = {
#embed "../../../sql/0017_retention.sql" suffix(, 0)
};

static const char text_0018[] = {
#embed "../../../sql/0018_deliveries.sql" suffix(, 0)
};

static const char text_0019[] = {
#embed "../../../sql/0019_http_calls.sql" suffix(, 0)
};

static const char text_0020[] = {
#embed "../../../sql/0020_database_place.sql" suffix(, 0)
};

static const char text_0021[] = {
#embed "../../../sql/0021_raw_pushes.sql" suffix(, 0)
};

static const char text_0022[] = {
#embed "../../../sql/0022_search.sql" suffix(, 0)
};

static const char text_0023[] = {
#embed "../../../sql/0023_card_types.sql" suffix(, 0)
};

static const char text_0024[] = {
#embed "../../../sql/0024_unique_ids.sql" suffix(, 0)
};

static const char text_0025[] = {
#embed "../../../sql/0025_receipts_and_card_types.sql" suffix(, 0)
};

static const char text_0026[] = {
#embed "../../../sql/0026_calls_and_sweeps.sql" suffix(, 0)
};

static const char text_0027[] = {
#embed "../../../sql/0027_participants.sql" suffix(, 0)
};

static const char text_0028[] = {
#embed "../../../sql/0028_limits.sql" suffix(, 0)
};

static const char text_0029[] = {
#embed "../../../sql/0029_permits_of_locked_rides.sql" suffix(, 0)
};

static const char text_0030[] = {
#embed "../../../sql/0030_contact_by_phone.sql" suffix(, 0)
};

static const char text_0031[] = {
#embed "../../../sql/0031_record.sql" suffix(, 0)
};

static const char text_0032[] = {
#embed "../../../sql/0032_row_versions.sql" suffix(, 0)
};

static const char text_0033[] = {
#embed "../../../sql/0033_watch_triggers.sql" suffix(, 0)
};

static const char text_0034[] = {
#embed "../../../sql/0034_watch_problems_and_triggers.sql" suffix(, 0)
};

static const char text_0035[] = {
#embed "../../../sql/0035_backfill_as_owner.sql" suffix(, 0)
};

static const char text_0036[] = {
#embed "../../../sql/0036_session_settings.sql" suffix(, 0)
};

static const char text_0037[] = {
#embed "../../../sql/0037_lost_claims.sql" suffix(, 0)
};

static const char text_0038[] = {
#embed "../../../sql/0038_escalation_rows.sql" suffix(, 0)
};

static const char text_0039[] = {
#embed "../../../sql/0039_node_reach.sql" suffix(, 0)
};

const struct ridepulse_migration ridepulse_migrations[] = {
    {"0001_rides", text_0001},
    {"0002_phones", text_0002},
    {"0003_functions", text_0003},
    {"0004_triggers", text_0004},
    {"0005_ledger", text_0005},
    {"0006_channels", text_0006},
    {"0007_watched_rows", text_0007},
    {"0008_watch_problems", text_0008},
    {"0009_watch_mapping", text_0009},
    {"0010_watch_triggers", text_0010},
    {"0011_row_changes", text_0011},
    {"0012_backfill", text_0012},
    {"0013_backfill_batch", text_0013},
    {"0014_people", text_0014},
    {"0015_erasure", text_0015},
    {"0016_forget", text_0016},
    {"0017_retention", text_0017},
    {"0018_deliveries", text_0018},
    {"0019_http_calls", text_0019},
    {"0020_database_place", text_0020},
    {"0021_raw_pushes", text_0021},
    {"0022_search", text_0022},
    {"0023_card_types", text_0023},
    {"0024_unique_ids", text_0024},
    {"0025_receipts_and_card_types", text_0025},
    {"0026_calls_and_sweeps", text_0026},
    {"0027_participants", text_0027},
    {"0028_limits", text_0028},
    {"0029_permits_of_locked_rides", text_0029},
    {"0030_contact_by_phone", text_0030},
    {"0031_record", text_0031},
    {"0032_row_versions", text_0032},
    {"0033_watch_triggers", text_0033},
    {"0034_watch_problems_and_triggers", text_0034},
    {"0035_backfill_as_owner", text_0035},
    {"0036_session_settings", text_0036},
    {"0037_lost_claims", text_0037},
    {"0038_escalation_rows", text_0038},
    {"0039_node_reach", text_0039},
    {NULL, NULL},
};
