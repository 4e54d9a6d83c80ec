package import Base
package import RideCore

/// The table of broadcast channels, which records each create before it is requested from APNs.
package struct ChannelRepository: Sendable {
  let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The result of a claim.
  package struct Claim: Hashable, Sendable {
    /// The recorded create, or the channel that the ride already has.
    package var row: ChannelRow
    /// Whether the create belongs to this caller, who must request it now and record the outcome.
    ///
    /// Otherwise the ride has a channel, or another caller is creating one.
    package var isBegun: Bool
  }

  /// Returns the database's time.
  package func now() async throws -> Timestamp {
    let results = try await session.run([Call(ChannelStatements.now)])
    return try results[0].value(0, 0)
  }

  // MARK: One create

  /// Records that a channel is about to be created; a ride has one at a time.
  ///
  /// It may be repeated with the same request ID after an error.
  package func claim(_ newChannel: NewChannel) async throws -> Claim {
    // Kept to few parameters: with a 128-bit one on the stack, this function's task jumps to
    // address 0 when it resumes (Swift 6.3, x86-64).
    let words = [newChannel.app.rawValue, newChannel.scope.environment.rawValue]
    let id = newChannel.requestID.description
    let results = try await session.run([
      Call(
        ChannelStatements.giveUp,
        words + [newChannel.rideID?.text, String(ChannelRow.longestCall.microseconds)]),
      Call(
        ChannelStatements.claim,
        words + [
          newChannel.scope.bundleID, newChannel.storage.rawValue, newChannel.rideID?.text, id,
        ]),
      Call(ChannelStatements.claimed, words + [newChannel.rideID?.text, id]),
    ])
    guard let row = try ChannelRow.all(results[2]).first else {
      throw PostgresError(.protocol(reason: "a claim that was written can't be read"))
    }
    return Claim(row: row, isBegun: row.requestID == newChannel.requestID)
  }

  /// Records that APNs created the channel under this ID, and adds it to the attributes of its
  /// ride.
  ///
  /// The ID is stored first, in a transaction of its own, so that an app that has the ride locked
  /// cannot make it be lost.
  ///
  /// - Returns: Whether the ride has it; false if an app has the ride locked, and `reportAll` must
  ///   follow.
  @discardableResult
  package func made(_ channel: ChannelID, _ newChannel: NewChannel) async throws -> Bool {
    let id = newChannel.requestID.description
    _ = try await session.run([Call(ChannelStatements.made, [id, channel.rawValue])])
    let rows = try? await session.run([Call(LockLimit.short), Self.report(newChannel)])
    return Self.areDone(rows?.last)
  }

  private static func report(_ newChannel: NewChannel) -> Call {
    Call(
      ChannelStatements.report,
      [newChannel.requestID.description, newChannel.isAwaited ? "t" : "f"])
  }

  private static func areDone(_ rows: QueryResult?) -> Bool {
    guard let rows else { return false }
    return (0..<rows.rowCount).allSatisfy { rows.bool($0, 0) ?? true }
  }

  /// Reports channels to rides that were locked when the channels were created.
  ///
  /// - Returns: Whether all of them are reported.
  package func reportAll() async throws -> Bool {
    let limit = 100
    let rows = try await session.run([
      Call(LockLimit.short), Call(ChannelStatements.reportAll, [String(limit)]),
    ])[1]
    return rows.rowCount < limit && Self.areDone(rows)
  }

  /// Records that it is unknown whether the channel was created.
  package func lost(requestID: PushID) async throws {
    _ = try await session.run([Call(ChannelStatements.lost, [requestID.description])])
  }

  /// Records that the channel was not created.
  package func failed(_ newChannel: NewChannel, reason: String) async throws {
    _ = try await session.run([
      Call(ChannelStatements.failed, [newChannel.requestID.description, reason]),
      Self.report(newChannel),
    ])
  }

  // MARK: Its life

  /// Returns the row that names a channel.
  package func row(of channel: ChannelID, in scope: ChannelScope) async throws -> ChannelRow? {
    let results = try await session.run([
      Call(ChannelStatements.row, Self.words(scope) + [channel.rawValue])
    ])
    return try ChannelRow.all(results[0]).first
  }

  /// Returns the channel that a ride currently has for an app and environment.
  package func channel(
    ofRide ride: String, app: App, environment: APNsEnvironment
  ) async throws -> ChannelRow? {
    let results = try await session.run([
      Call(ChannelStatements.ofRide, [app.rawValue, environment.rawValue, ride])
    ])
    return try ChannelRow.all(results[0]).first
  }

  /// Returns channels whose cards have ended, oldest first.
  package func toDelete(in scope: ChannelScope, atMost limit: Int) async throws -> [ChannelRow] {
    let results = try await session.run([
      Call(ChannelStatements.toDelete, Self.words(scope) + [String(limit)])
    ])
    return try ChannelRow.all(results[0])
  }

  /// Records that APNs no longer has the channel of this row.
  package func deleted(_ row: Int64) async throws {
    _ = try await session.run([Call(ChannelStatements.deleted, [String(row)])])
  }

  /// Ends rows: their channels, if any, may be deleted at Apple.
  package func end(_ rows: [Int64], reason: String) async throws {
    _ = try await session.run([
      Call(
        ChannelStatements.end, [PostgresArray.literal(rows.map { String($0) }), reason])
    ])
  }

  /// Whether a ride is live: on the agenda, with waiting events, or in one of the states.
  package func isLive(ride: String, activeStates: some Sequence<String>) async throws -> Bool {
    let states = PostgresArray.literal(Array(activeStates))
    let results = try await session.run([Call(ChannelStatements.isLive, [ride, states])])
    return results[0].bool(0, 0) ?? false
  }

  // MARK: What Apple lists

  /// Records the channels that Apple listed, and reads everything that an audit compares them with.
  ///
  /// - Parameter began: the database's time before Apple was asked.
  package func record(
    _ listed: [ChannelID], began: Timestamp, in scope: ChannelScope
  ) async throws -> (rows: [ChannelRow], others: [OtherChannel]) {
    let words = Self.words(scope)
    let ids = PostgresArray.literal(listed.map(\.rawValue))
    let results = try await session.run([
      Call(ChannelStatements.openListing, words),
      Call(ChannelStatements.lockListing, words),
      Call(ChannelStatements.recordOthers, words + [ids, String(began.microseconds)]),
      Call(ChannelStatements.forgetOthers, words + [ids, String(began.microseconds)]),
      Call(
        ChannelStatements.closeListing,
        words + [String(listed.count), String(began.microseconds)]),
      Call(ChannelStatements.rows, words + [ids]),
      Call(ChannelStatements.others, words),
    ])
    return (try ChannelRow.all(results[5]), Self.others(results[6]))
  }

  /// Records the storage policy of a channel that has no row.
  package func record(
    _ storage: ChannelStorage, of channel: ChannelID, in scope: ChannelScope
  ) async throws {
    _ = try await session.run([
      Call(
        ChannelStatements.recordStorage,
        Self.words(scope) + [channel.rawValue, storage.rawValue])
    ])
  }

  private static func words(_ scope: ChannelScope) -> [String?] {
    [scope.bundleID, scope.environment.rawValue]
  }

  private static func others(_ result: QueryResult) -> [OtherChannel] {
    (0..<result.rowCount).compactMap { index in
      guard let channel = result.string(index, 0).flatMap({ ChannelID($0) }),
        let seenAt = Timestamp.read(result, index, 2)
      else { return nil }
      return OtherChannel(
        channel: channel, absentAt: Timestamp.read(result, index, 1), seenAt: seenAt,
        storage: ChannelStorage.read(result, index, 3))
    }
  }
}

/// Read from channels `c`.
extension ChannelRow: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    self.init(
      id: try columns.next("c.id"), app: try columns.next("c.app"),
      channel: (try columns.next("c.channel_id") as String?).flatMap { ChannelID($0) },
      storage: try columns.next("c.storage"), rideID: try columns.next("c.ride_id"),
      requestID: try columns.next("c.request_id"), createdAt: try columns.next("c.created_at"))
    confirmedAt = try columns.next("c.confirmed_at")
    unansweredAt = try columns.next("c.unanswered_at")
    endedAt = try columns.next("c.ended_at")
    endedReason = try columns.next("c.ended_reason")
  }
}
