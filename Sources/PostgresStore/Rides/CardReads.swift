import Base
internal import RideCore

/// Reads the cards of rides, except those that the engine has ended and those of phones that
/// signed out.
struct CardRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let token: ResultColumn<String>
  let environment: ResultColumn<String>
  let isFrequent: ResultColumn<Bool>
  let registeredAt: ResultColumn<Timestamp>
  let isGone: ResultColumn<Bool>
  let installation: ResultColumn<String>
  /// The topics that the owner has turned off; nil for none, and if they were not read.
  let optOuts: ResultColumn<String>
  /// $1 ride IDs.
  let statement: Statement

  static let all = CardRead()
  static let withOptOuts = CardRead(optOuts: true)

  private init(optOuts: Bool = false) {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("id")
    app = list.text("app")
    owner = list.text("owner_id")
    token = list.text("token")
    environment = list.text("environment")
    isFrequent = list.boolean("frequent")
    registeredAt = list.time("registered_at")
    isGone = list.boolean("ended_at is not null")
    installation = list.text("installation_id")
    self.optOuts = list.text(optOuts ? OptOutColumn.sql(of: "a") : OptOutColumn.none)
    statement = Statement(
      name: optOuts ? "claimed_cards_topics" : "claimed_cards",
      sql: """
        select \(list.sql)
        from (
          -- Apart from the order, for which all cards could be read in that of their IDs.
          select * from ridepulse.current_live_activities a
          where ride_id = any ($1::text[])
            and (ended_at is null or ended_reason not in ('ended', 'expired', 'signed_out'))
          offset 0
        ) a
        order by id
        """)
  }
}

/// Reads the last channel of each ride, app and environment.
struct ChannelRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let app: ResultColumn<String>
  let environment: ResultColumn<String>
  let storage: ResultColumn<String>
  let channel: ResultColumn<String>
  let createdAt: ResultColumn<Timestamp>
  let isUnanswered: ResultColumn<Bool>
  let isEnded: ResultColumn<Bool>
  let endedReason: ResultColumn<String>
  /// $1 ride IDs.
  let statement: Statement

  static let all = ChannelRead()

  private init() {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("id")
    app = list.text("app")
    environment = list.text("environment")
    storage = list.text("storage")
    channel = list.text("channel_id")
    createdAt = list.time("created_at")
    isUnanswered = list.boolean("unanswered_at is not null")
    isEnded = list.boolean("ended_at is not null")
    endedReason = list.text("ended_reason")
    statement = Statement(
      name: "claimed_channels",
      sql: """
        select distinct on (ride_id, app, environment) \(list.sql)
        from ridepulse.current_channels where ride_id = any ($1::text[])
        order by ride_id, app, environment, id desc
        """)
  }
}

/// Reads push-to-start tokens, after the ID of the ride that they are read for.
struct StartTokenRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let attributesType: ResultColumn<String>
  let token: ResultColumn<String>
  let environment: ResultColumn<String>
  let registeredAt: ResultColumn<Timestamp>
  let installation: ResultColumn<String>
  /// The topics that the owner has turned off; nil for none, and if they were not read.
  let optOuts: ResultColumn<String>
  /// The tokens of people, and those of starts that are retried.
  ///
  /// Its parameters are the rows of `RidePerson` and of `TokenInMemo`.
  let ofPeople: Statement

  static let all = StartTokenRead()
  static let withOptOuts = StartTokenRead(optOuts: true)

  private init(optOuts: Bool = false) {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("t.id")
    app = list.text("t.app")
    owner = list.text("t.owner_id")
    attributesType = list.text("t.attributes_type")
    token = list.text("t.token")
    environment = list.text("t.environment")
    registeredAt = list.time("t.registered_at")
    installation = list.text("t.installation_id")
    self.optOuts = list.text(optOuts ? OptOutColumn.sql(of: "t") : OptOutColumn.none)
    ofPeople = Statement(
      name: optOuts ? "start_tokens_of_people_topics" : "start_tokens_of_people",
      sql: """
        select \(list.sql)
        from \(RidePerson.rows.table("person"))
        cross join lateral (
          select * from ridepulse.current_start_tokens t
          where t.app = person.app and t.owner_id = person.owner_id offset 0
        ) t
        union
        select \(list.sql)
        from \(TokenInMemo.rows.table("m"))
        cross join lateral (
          select * from ridepulse.current_start_tokens t where t.id = m.token_id offset 0
        ) t
        order by 2
        """)
  }
}
