package import RideCore

/// Commits raw pushes that a person sends, and reads their outcomes.
package struct RawPushCommands: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The arguments of `ridepulse.push` or `ridepulse.broadcast`.
  package struct Order: Hashable, Sendable {
    package var app: App
    package var target: RawPush.Target
    /// The JSON text.
    package var payload: String
    /// Ignored for a broadcast, which has only one type.
    package var pushType: PushType
    /// Nil for the default of the push type.
    package var priority: PushPriority?
    /// Nil for the function's default.
    package var expires: RuleExpiry?

    package init(
      app: App, target: RawPush.Target, payload: String, pushType: PushType,
      priority: PushPriority?, expires: RuleExpiry?
    ) {
      self.app = app
      self.target = target
      self.payload = payload
      self.pushType = pushType
      self.priority = priority
      self.expires = expires
    }
  }

  private static let push = Statement(
    name: "",
    sql: """
      select ridepulse.push($1, $2, $3::json, $4, $5::integer,
        make_interval(secs => $6::double precision))
      """)

  private static let broadcast = Statement(
    name: "",
    sql: """
      select ridepulse.broadcast($1, $2, $3::json, priority => $4::integer,
        expires => make_interval(secs => $5::double precision))
      """)

  /// Commits a push; returns its `apns-id`.
  package func commit(_ order: Order) async throws(PostgresError) -> PushID {
    let priority = order.priority.map { "\($0.rawValue)" }
    let seconds = order.expires.map { "\($0.storage.components.seconds)" }
    let app = order.app.rawValue
    let call =
      switch order.target {
      case .device, .registration:
        Call(
          Self.push,
          [app, order.target.text, order.payload, order.pushType.rawValue, priority, seconds])
      case .channel(let channel):
        Call(Self.broadcast, [app, channel.rawValue, order.payload, priority, seconds])
      }
    let rows = try await session.run([call])
    guard let id = rows[0].string(0, 0).flatMap(PushID.init) else {
      throw PostgresError(.protocol(reason: "ridepulse.push returned no ID"))
    }
    return id
  }

  /// Returns the ledger's row of a push so far; nil if the engine has not handled it.
  package func outcome(of id: PushID, _ order: Order) async throws(PostgresError) -> LedgerRow? {
    let source: RawPush.Source = order.target.isBroadcast ? .broadcast : .push
    let rows = try await session.run([
      Call(
        LedgerRow.ofRawPush,
        [source.rawValue, order.app.rawValue, order.target.text, id.description])
    ])
    return try LedgerRow.all(rows[0]).first
  }
}
