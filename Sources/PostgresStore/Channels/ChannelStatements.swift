import Base
internal import RideCore

/// The SQL of `ChannelRepository`.
enum ChannelStatements {
  private static let columns = ChannelRow.selected

  static let now = Statement(name: "channels_now", sql: "select \(SQLTime.now)")

  /// Marks an unfinished create of the ride as unanswered after $4 microseconds.
  ///
  /// Its node has died, and the create must not keep the ride's place.
  static let giveUp = Statement(
    name: "channels_give_up",
    sql: """
      update ridepulse.channels set unanswered_at = clock_timestamp()
      where app = $1 and environment = $2 and ride_id = $3 and channel_id is null
        and ended_at is null and unanswered_at is null
        and created_at < clock_timestamp() - $4::bigint * interval '1 microsecond'
      """)

  static let claim = Statement(
    name: "channels_claim",
    sql: """
      insert into ridepulse.channels (app, environment, bundle_id, storage, ride_id, request_id)
      values ($1, $2, $3, $4, $5, $6::uuid)
      on conflict do nothing
      """)

  static let claimed = Statement(
    name: "channels_claimed",
    sql: """
      select \(columns) from ridepulse.channels c
      where c.request_id = $4::uuid
        or (c.app = $1 and c.environment = $2 and c.ride_id = $3
            and c.ended_at is null and c.unanswered_at is null)
      order by c.request_id <> $4::uuid limit 1
      """)

  /// Accepts a late answer, too.
  static let made = Statement(
    name: "channels_made",
    sql: """
      update ridepulse.channels
      set channel_id = $2, confirmed_at = clock_timestamp(), unanswered_at = null
      where request_id = $1::uuid and channel_id is null
      """)

  static let lost = Statement(
    name: "channels_lost",
    sql: """
      update ridepulse.channels set unanswered_at = clock_timestamp()
      where request_id = $1::uuid and channel_id is null and ended_at is null
        and unanswered_at is null
      """)

  static let failed = Statement(
    name: "channels_failed",
    sql: """
      update ridepulse.channels set ended_at = clock_timestamp(), ended_reason = $2
      where request_id = $1::uuid and channel_id is null and ended_at is null
      """)

  static let row = Statement(
    name: "channels_row",
    sql: """
      select \(columns) from ridepulse.channels c
      where c.bundle_id = $1 and c.environment = $2 and c.channel_id = $3
      """)

  static let ofRide = Statement(
    name: "channels_of_ride",
    sql: """
      select \(columns) from ridepulse.channels c
      where c.app = $1 and c.environment = $2 and c.ride_id = $3 and c.ended_at is null
        and c.channel_id is not null
      """)

  static let end = Statement(
    name: "channels_end",
    sql: """
      update ridepulse.channels set ended_at = clock_timestamp(), ended_reason = $2
      where id = any ($1::bigint[]) and ended_at is null
      """)

  /// Reports the outcome of a create to its ride: $1 request ID, $2 whether a service waits for it.
  ///
  /// Returns false if an app has the ride locked.
  static let report = Statement(
    name: "channels_report",
    sql: """
      select ridepulse.report_channel(c.id, $2::boolean) from ridepulse.channels c
      where c.request_id = $1::uuid and c.ride_id is not null
      """)

  /// Reports all unreported channels, at most $1 of them, oldest first.
  ///
  /// A node may have ended before it could report. Returns false for those whose ride is locked.
  static let reportAll = Statement(
    name: "channels_report_all",
    sql: """
      select ridepulse.report_channel(c.id, false) from (
        select id from ridepulse.channels
        where channel_id is not null and ride_id is not null and ended_at is null
          and reported_at is null
        order by id limit $1::int) c
      """)

  /// The channels of ended cards from which no phone can receive anything any more.
  ///
  /// A card's end is the last message of its channel, and APNs keeps it for eight hours at most.
  static let toDelete = Statement(
    name: "channels_to_delete",
    sql: """
      select \(columns) from ridepulse.channels c
      where c.bundle_id = $1 and c.environment = $2 and c.channel_id is not null
        and c.ended_reason in ('ended', 'expired') and c.deleted_at is null
        and (c.storage = 'none'
          or c.ended_at <= now() - interval '\(ChannelStorage.longest.components.seconds) seconds')
      order by c.ended_at limit $3::int
      """)

  static let deleted = Statement(
    name: "channels_deleted",
    sql: "update ridepulse.channels set deleted_at = clock_timestamp() where id = $1::bigint")

  static let isLive = Statement(
    name: "channels_is_live",
    sql: """
      select exists (select from ridepulse.agenda where ride_id = $1)
        or exists (select from ridepulse.events where ride_id = $1)
        or exists (select from ridepulse.rides where id = $1 and state = any ($2::text[]))
      """)

  static let openListing = Statement(
    name: "channels_open_listing",
    sql: """
      insert into ridepulse.channel_listings (bundle_id, environment, began_at, channels)
      values ($1, $2, '-infinity', 0) on conflict do nothing
      """)

  /// Makes listings be recorded one after another.
  ///
  /// A listing that was requested before the last recorded one is not recorded.
  static let lockListing = Statement(
    name: "channels_lock_listing",
    sql: """
      select from ridepulse.channel_listings where bundle_id = $1 and environment = $2 for update
      """)

  private static func isNewer(_ parameter: String) -> String {
    "l.began_at < \(SQLTime.timestamp("\(parameter)::bigint"))"
  }

  static let recordOthers = Statement(
    name: "channels_record_others",
    sql: """
      insert into ridepulse.other_channels
        (bundle_id, environment, channel_id, absent_at, seen_at)
      select $1, $2, listed.id, nullif(l.began_at, '-infinity'), clock_timestamp()
      from ridepulse.channel_listings l, unnest($3::text[]) listed (id)
      where l.bundle_id = $1 and l.environment = $2 and \(isNewer("$4"))
        and not exists (
          select from ridepulse.channels c
          where c.bundle_id = $1 and c.environment = $2 and c.channel_id = listed.id)
      on conflict do nothing
      """)

  static let forgetOthers = Statement(
    name: "channels_forget_others",
    sql: """
      delete from ridepulse.other_channels o
      using ridepulse.channel_listings l
      where l.bundle_id = $1 and l.environment = $2 and \(isNewer("$4"))
        and o.bundle_id = $1 and o.environment = $2
        and (o.channel_id <> all ($3::text[])
          or exists (
            select from ridepulse.channels c
            where c.bundle_id = $1 and c.environment = $2 and c.channel_id = o.channel_id))
      """)

  static let closeListing = Statement(
    name: "channels_close_listing",
    sql: """
      update ridepulse.channel_listings l
      set began_at = \(SQLTime.timestamp("$4::bigint")),
        channels = $3::integer
      where l.bundle_id = $1 and l.environment = $2 and \(isNewer("$4"))
      """)

  static let rows = Statement(
    name: "channels_rows",
    sql: """
      select \(columns) from ridepulse.channels c
      where c.bundle_id = $1 and c.environment = $2
        and (c.ended_at is null or c.channel_id = any ($3::text[]))
      order by c.id
      """)

  static let others = Statement(
    name: "channels_others",
    sql: """
      select channel_id, \(SQLTime.micros("absent_at")), \(SQLTime.micros("seen_at")), storage
      from ridepulse.other_channels where bundle_id = $1 and environment = $2
      order by channel_id
      """)

  static let recordStorage = Statement(
    name: "channels_record_storage",
    sql: """
      update ridepulse.other_channels set storage = $4
      where bundle_id = $1 and environment = $2 and channel_id = $3
      """)
}
