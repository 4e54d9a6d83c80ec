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
        from ridepulse.current_live_activities a
        where ride_id = any ($1::text[])
          and (ended_at is null or ended_reason not in ('ended', 'expired', 'signed_out'))
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
  /// Tokens for rides with an event that starts a card, and for starts that are retried.
  ///
  /// $1 ride IDs, $2 apps that have cards, $3 events that start one; for each start in a memo $4
  /// the ride and $5 the token's ID.
  let ofRides: Statement
  /// The tokens of owners: $1 ride ID, $2 apps, $3 owners.
  let ofOwners: Statement

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
    ofRides = Statement(
      name: optOuts ? "claimed_start_tokens_topics" : "claimed_start_tokens",
      sql: """
        select \(list.sql)
        from (
          select r.id as ride_id, o.app, o.owner_id
          from ridepulse.rides r, \(RideOwners.lateral(apps: "$2::text[]")) o
          where o.app = any ($2::text[])
            and r.id in (select e.ride_id from ridepulse.events e
                         where e.ride_id = any ($1::text[]) and e.event = any ($3::text[]))
          union
          select p.ride_id, p.app, p.owner_id from (\(RideOwners.participants)) p
          where p.app = any ($2::text[])
            and p.ride_id in (select e.ride_id from ridepulse.events e
                              where e.ride_id = any ($1::text[]) and e.event = any ($3::text[]))
          union
          select e.ride_id, a.app, named.owner_id
          from ridepulse.events e, unnest($2::text[]) a (app),
            \(RideOwners.named(in: "e.data", app: "a.app")) named
          where e.ride_id = any ($1::text[]) and e.event = any ($3::text[]) and e.data <> '{}'
        ) owner
        join ridepulse.current_start_tokens t
          on t.app = owner.app and t.owner_id = owner.owner_id
        union
        select \(list.sql)
        from unnest($4::text[], $5::bigint[]) m (ride_id, token_id)
        join ridepulse.current_start_tokens t on t.id = m.token_id
        order by 2
        """)
    ofOwners = Statement(
      name: optOuts ? "start_tokens_of_owners_topics" : "start_tokens_of_owners",
      sql: """
        select \(list.sql)
        from unnest($2::text[], $3::text[]) owner (owner_app, owner)
        cross join (select $1::text as ride_id) ride
        join ridepulse.current_start_tokens t on t.app = owner_app and t.owner_id = owner
        order by t.id
        """)
  }
}
