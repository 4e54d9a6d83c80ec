/// What each role needs: the one list behind `migrate --roles` and doctor's check of rights.
///
/// A test tries each role with each object and compares the outcome with a table. An object that
/// is not listed is for the schema's owner alone.
enum Grants {
  static let all: [Grant] = [schema, fence] + tables + functions

  private static let schema = Grant(
    kind: .schema, name: "ridepulse",
    privileges: [.app: [.usage], .engine: [.usage], .reader: [.usage]], loss: nil)

  private static let fence = Grant(
    kind: .sequence, name: "fence", privileges: [.engine: [.usage]], loss: nil)

  private static let read: [Privilege] = [.select]
  private static let add: [Privilege] = [.select, .insert, .update]
  private static let own: [Privilege] = [.select, .insert, .update, .delete]

  private static let tables: [Grant] = [
    .table("migrations", engine: read, reader: read),
    .table("rides", app: add, engine: read, reader: read),
    .table("entered_states", engine: read, reader: read),
    .table("participants", app: own, engine: read, reader: read),
    .table("events", engine: [.select, .insert, .delete], reader: read),
    .table("devices", engine: add, reader: read),
    .table("live_activities", engine: [.select, .update], reader: read),
    .table("push_to_start_tokens", engine: [.select, .update], reader: read),
    .table("agenda", engine: own, reader: read),
    .table("lost_claims", engine: own, reader: read),
    .table("ledger", engine: add, reader: read),
    .table("nodes", engine: own, reader: read),
    .table("slot_counts", engine: add, reader: read),
    .table("timing", engine: add),
    .table("settings", engine: read),
    .table("pin", engine: add, reader: read),
    .table("pinned_apps", engine: own, reader: read),
    .table("pauses", engine: own, reader: read, loss: .pauses),
    .table("channels", engine: add, reader: read),
    .table("channel_listings", engine: add, reader: read),
    .table("other_channels", engine: own, reader: read),
    .table("contacts", engine: read, reader: read),
    .table("phone_counts", engine: [.select, .update], reader: read, loss: .metrics),
    .table("installation_contacts", engine: read, reader: read),
    .table("receipts", engine: [.select, .update], reader: read),
    .table("traced_pushes", engine: own, loss: .traces),
    .table("preferences", engine: read, reader: read),
    .table("permits", engine: read, reader: read),
    .table("recorded", engine: [.select, .insert], reader: read, loss: .recording),
    .table("token_outcomes", engine: own, reader: read),
    .table("current_devices", engine: read, reader: read),
    .table("current_live_activities", engine: read, reader: read),
    .table("current_start_tokens", engine: read, reader: read),
    .table("current_channels", engine: read, reader: read),
    .table("apps", engine: add, reader: read),
    .table("revisions", engine: add, reader: read, loss: .reports),
    .table("rule_sets", engine: own, reader: read, loss: .lastRules),
    .table("card_types", engine: own, reader: read, loss: .reports),
    .table("card_type_hours", engine: own, reader: read, loss: .reports),
    .table("sweeps", engine: read, reader: read, loss: .rotation),
    .table("watched", engine: read, reader: read, loss: .watching),
    .table("watch_problems", engine: read, reader: read, loss: .watching),
    .table("unread_rides", engine: read, reader: read),
    .table("legacy_frames", engine: own, loss: .legacy),
    .table("deliveries", app: read, engine: read, reader: read, loss: .reports),
    .table("parked", engine: read, reader: read, loss: .reports),
    .table("quarantine", engine: read, reader: read, loss: .reports),
    .table("slots", engine: read, reader: read, loss: .reports),
  ]

  /// The functions that a backfill calls. Only programs of the version before call runs_owner_code.
  static let backfill = functions.filter { $0.loss == .backfill && $0.name != "runs_owner_code" }
    .map(\.name)

  private static let functions: [Grant] = [
    .function("emit", .app, .engine),
    .function("emit_to_people", .app, .engine, loss: .reports),
    .function("register_device", .app),
    .function("register_live_activity", .app),
    .function("register_push_to_start", .app),
    .function("unregister_device", .app),
    .function("end_live_activity", .app),
    .function("unregister_push_to_start", .app),
    .function("contact", .app),
    .function("seen", .app),
    .function("set_preference", .app),
    .function("share", .app, .engine, .reader, loss: .reports),
    .function("request_permits", .engine), .function("report_permits", .engine),
    .function("deliveries_cursor", .app, .engine, .reader, loss: .httpCalls),
    .function("deliveries_after", .app, .engine, .reader, loss: .httpCalls),
    .function("verdict_horizon", .engine, .reader, loss: .reports),
    .function("report_channel", .engine),
    .function("server_place", .engine), .function("wal_timeline", .engine),
    .function("claim_place", .engine),
    .function("pin_problems", .engine, .reader),
    .function("check_pin", .engine),
    .function("pin", .engine),
    .function("hold", .engine),
    .function("release", .engine, loss: .remedies),
    .function("pause", .engine, loss: .pauses), .function("resume", .engine, loss: .pauses),
    .function("discard", .engine, loss: .remedies),
    .function("unpark", .engine, loss: .remedies),
    .function("unquarantine", .engine, loss: .remedies),
    .function("unwatch_missing", .engine, loss: .remedies),
    .function("rotate_ledger", .engine, loss: .rotation),
    .function("rotate_recorded", .engine, loss: .recording),
    .function("sweep", .engine, loss: .rotation),
    .function("idempotent_call", .engine, loss: .httpCalls),
    .function("runs_owner_code", .engine, loss: .backfill),
    .function("begin_backfill", .engine, loss: .backfill),
    .function("finish_backfill", .engine, loss: .backfill),
    .function("lock_to_read", .engine, loss: .backfill),
    .function("find_live_rows", .engine, loss: .backfill),
    .function("live_rides", .engine, loss: .backfill),
    .function("backfill_plan", .engine, loss: .backfill),
    .function("backfill_batch", .engine, loss: .backfill),
    .function("lock_rides", .engine, loss: .backfill),
    .function("store_batch", .engine, loss: .backfill),
    .function("record_unread_row", .engine, loss: .backfill),
    .function("missing_indexes", .engine, loss: .reports),
    .function("search_indexes", .engine, loss: .reports),
    .function("legacy_ride", .engine, loss: .legacy),
    .function("push", .app, .engine, loss: .rawPushes),
    .function("broadcast", .app, .engine, loss: .rawPushes),
    .function("raw_ride", .app, .engine, .reader, loss: .rawPushes),
  ]
}
