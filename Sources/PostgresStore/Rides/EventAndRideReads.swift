import Base
internal import RideCore

/// How much the reads about rides return.
enum ReadSize: Sendable {
  /// Only small values and few events, all of which fit into memory: no sum over rows is needed.
  case small
  /// Values of any size, as far as a statement may return them.
  case bounded

  /// The number of events of a ride that are read at most: their pushes settle together.
  var eventLimit: Int {
    switch self {
    case .small: 32
    case .bounded: 1000
    }
  }
}

/// Reads the first unconsumed events of rides.
///
/// They are read before the rides, so that no event is newer than the ride that it is rendered
/// from.
struct EventRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let name: ResultColumn<String>
  let createdAt: ResultColumn<Timestamp>
  /// The event's data; nil if it is too large.
  let data: ResultColumn<String>
  /// The size of data that is too large.
  let bytes: ResultColumn<Int64>
  /// Whether this event, and all that follow it, did not fit.
  let isBeyond: ResultColumn<Bool>
  let customer: ResultColumn<String>
  let driver: ResultColumn<String>
  /// The ride's row before the change.
  let former: ResultColumn<String>
  /// The app's `traceparent`, as it was handed over; nil if traces are not read.
  let trace: ResultColumn<String>?
  /// $1 ride IDs, $2 limit for each ride.
  let statement: Statement

  static let all = EventRead(.bounded)
  static let small = EventRead(.small)
  private static let allWithTraces = EventRead(.bounded, traces: true)
  private static let smallWithTraces = EventRead(.small, traces: true)

  /// - Parameter traces: Whether the service exports spans.
  static func of(_ size: ReadSize, traces: Bool) -> EventRead {
    switch size {
    case .small: traces ? smallWithTraces : small
    case .bounded: traces ? allWithTraces : all
    }
  }

  private init(_ size: ReadSize, traces: Bool = false) {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("id")
    name = list.text("event")
    createdAt = list.time("created_at")
    data = list.text("case when fits then text end")
    bytes = list.integer("bytes")
    isBeyond = list.boolean("not fits")
    customer = list.text("customer_id")
    driver = list.text("driver_id")
    former = list.text("case when fits then former::text end")
    trace = traces ? list.text("trace") : nil
    let first = """
      unnest($1::text[]) r (id)
            cross join lateral (select * from ridepulse.events e where e.ride_id = r.id
                                order by e.id limit $2::bigint) e
      """
    let found =
      switch size {
      case .small:
        """
        select e.*, json.text, null::bigint as bytes, json.fits
          from (select e.* from \(first)) e, \(BoundedJSON.small("e.data"))
        """
      case .bounded:
        """
        select e.*, json.text, json.bytes, e.may_fit
              and sum(coalesce(octet_length(json.text), 0)) over (order by e.id)
                <= \(BoundedJSON.textLimit) as fits
          from (
            select e.*,
              sum(\(BoundedJSON.weight("e.data"))) over (order by e.id)
                <= \(BoundedJSON.statementLimit) as may_fit
            from \(first)
          ) e, \(BoundedJSON.lateral("e.data", if: "e.may_fit"))
        """
      }
    statement = Statement(
      name: (size == .small ? "small_events" : "claimed_events") + (traces ? "_traces" : ""),
      sql: """
        select \(list.sql)
        from (
          \(found)
        ) bounded
        order by id
        """)
  }
}

/// Reads the rows of rides: the smallest ones come first, and a large one comes alone.
struct RideRead: Sendable {
  let id: ResultColumn<String>
  let state: ResultColumn<String>
  let customer: ResultColumn<String>
  let driver: ResultColumn<String>
  let pickupAt: ResultColumn<Timestamp>
  let timeZone: ResultColumn<String>
  /// The ride's attributes; nil if they are too large.
  let attributes: ResultColumn<String>
  let updatedAt: ResultColumn<Timestamp>
  let isUnread: ResultColumn<Bool>
  /// The times in microseconds, as JSON; nil if none are known, and if they were not read.
  let entered: ResultColumn<String>
  /// The size of attributes that are too large.
  let bytes: ResultColumn<Int64>
  /// Whether the ride did not fit.
  let isBeyond: ResultColumn<Bool>
  /// $1 ride IDs.
  let statement: Statement

  static let all = RideRead(.bounded)
  static let small = RideRead(.small)
  /// With the entries into states, for rules that use them: one more lookup for each ride.
  static let withEntries = RideRead(.bounded, entries: true)
  static let smallWithEntries = RideRead(.small, entries: true)

  private init(_ size: ReadSize, entries: Bool = false) {
    var list = SelectList()
    id = list.text("r.id")
    state = list.text("r.state")
    customer = list.text("r.customer_id")
    driver = list.text("r.driver_id")
    pickupAt = list.time("r.pickup_at")
    timeZone = list.text("r.time_zone")
    attributes = list.text("case when r.fits then r.text end")
    updatedAt = list.time("r.updated_at")
    isUnread = list.boolean(
      "exists (select from ridepulse.unread_rides u where u.ride_id = r.id)")
    entered = list.text(
      entries
        ? "(select s.entered::text from ridepulse.entered_states s where s.ride_id = r.id)"
        : "null::text")
    bytes = list.integer("r.bytes")
    isBeyond = list.boolean("not fits")
    let found =
      switch size {
      case .small:
        """
        select r.*, json.text, null::bigint as bytes, json.fits
          from ridepulse.rides r, \(BoundedJSON.small("r.attributes"))
          where r.id = any ($1::text[])
        """
      case .bounded:
        """
        select w.*, json.text, json.bytes, w.may_fit
              and sum(coalesce(octet_length(json.text), 0)) over (order by w.weight, w.id)
                <= \(BoundedJSON.textLimit) as fits
          from (
            select r.*, weight, row_number() over by_weight = 1 or (weight <= \(BoundedJSON.limit)
                and sum(weight) over by_weight <= \(BoundedJSON.statementLimit)) as may_fit
            from ridepulse.rides r,
              lateral (select \(BoundedJSON.weight("r.attributes")) as weight offset 0) weighed
            where r.id = any ($1::text[])
            window by_weight as (order by weight, r.id)
          ) w, \(BoundedJSON.lateral("w.attributes", if: "w.may_fit"))
        """
      }
    statement = Statement(
      name: (size == .small ? "small_rides" : "claimed_rides") + (entries ? "_entries" : ""),
      sql: """
        select \(list.sql)
        from (
          \(found)
        ) r
        """)
  }
}

/// Reads the further people of rides.
struct ParticipantRead: Sendable {
  let ride: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let attributes: ResultColumn<String>
  /// $1 ride IDs.
  let statement: Statement

  static let all = ParticipantRead()

  private init() {
    var list = SelectList()
    ride = list.text("ride_id")
    app = list.text("app")
    owner = list.text("owner_id")
    attributes = list.text("nullif(attributes, '{}')")
    statement = Statement(
      name: "claimed_participants",
      sql: """
        -- If there are none in the whole table, no ride is looked up.
        select \(list.sql) from ridepulse.participants
        where ride_id = any ($1::text[]) and (select exists (select from ridepulse.participants))
        order by ride_id, app, owner_id
        """)
  }
}

/// Limits on the JSON that one read fetches from the database.
///
/// A claim reads small values first, which fit into memory in any number that it can claim. Rides with
/// another value are read again, with sums over the sizes of rows.
///
/// The limits apply to the text that reaches this process. Without decompressing a value,
/// PostgreSQL has only its stored size, and the text may be a hundred times larger.
enum BoundedJSON {
  /// The longest JSON text that is read, in bytes; a push holds four thousand.
  static let limit = 1 << 20
  /// The number of bytes that one statement decompresses at most, estimated from stored sizes.
  static let statementLimit = 32 << 20
  /// The number of bytes of text that one statement returns at most.
  static let textLimit = 16 << 20
  /// The number of bytes of text after which a claim starts no further read.
  static let claimLimit = 64 << 20

  /// The longest small value, in bytes: as PostgreSQL stores it, and as text, which may be much longer.
  private static let smallLimit = 2 << 10

  /// A lateral row `json (text, fits)`: whether the value is small, and its text.
  ///
  /// PostgreSQL compresses no value of a row shorter than 2 kB.
  static func small(_ column: String) -> String {
    """
    lateral (
      select text, coalesce(octet_length(text) <= \(smallLimit), false) as fits
      from (select case when pg_column_size(\(column)) <= \(smallLimit)
                and pg_column_compression(\(column)) is null
              then \(column)::text end as text offset 0) unpacked
      offset 0) json
    """
  }

  /// An SQL estimate of a value's size in bytes once it is decompressed.
  static func weight(_ column: String) -> String {
    """
    case when pg_column_size(\(column)) > \(limit) then 0
      when pg_column_compression(\(column)) is null then pg_column_size(\(column))
      else pg_column_size(\(column))::bigint * 16 end
    """
  }

  /// A lateral row `json (text, bytes)`: the value as text unless it is too large, and its size if
  /// it is.
  ///
  /// The value is decompressed only if `condition` holds.
  static func lateral(_ column: String, if condition: String) -> String {
    """
    lateral (
      select case when octet_length(text) <= \(limit) then text end as text,
        case when octet_length(text) > \(limit) then octet_length(text)
          when pg_column_size(\(column)) > \(limit) then pg_column_size(\(column)) end as bytes
      from (select case when \(condition) and pg_column_size(\(column)) <= \(limit)
              then \(column)::text end as text offset 0) unpacked
      offset 0) json
    """
  }

  /// What a ride is parked with if its value, or that of an event, is too large.
  static func tooLarge(_ what: String, bytes: Int64) -> UnreadableRide {
    UnreadableRide(
      reason: "\(what) too large: \(bytes) bytes, the limit is \(limit)", isFinal: true)
  }
}
