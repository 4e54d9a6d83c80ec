import PostgresStore
import PushClient
import RideCore

/// Creates, deletes and audits channels at Apple together with their rows in the database.
struct ChannelService: Sendable {
  let client: ChannelClient
  let repository: ChannelRepository

  struct Made: Sendable {
    var channel: ChannelID
    /// False if the ride already had the channel.
    var isNew: Bool
    /// False if an app holds a lock on the ride, so that the channel ID is not written to it yet.
    var isReported = true
  }

  /// Returns a new `apns-request-id` for a create call.
  static func newRequestID() -> PushID {
    PushID(of: "channel", "\(UInt128.random(in: 0...UInt128.max))")
  }

  /// Lists the channels at Apple, and assigns each to its row.
  func audit(in scope: ChannelScope) async throws -> ChannelAudit {
    let began = try await repository.now()
    let listed = try await client.all(in: scope)
    let known = try await repository.record(listed, began: began, in: scope)
    var others = known.others
    let audit = ChannelAudit(
      listed: Set(listed), began: began, rows: known.rows, others: others)
    // The storage policy distinguishes some channels that their times do not.
    for result in audit.results where result.needsStorage {
      guard let index = others.firstIndex(where: { $0.channel == result.channel }),
        let storage = try await storage(of: result.channel, in: scope)
      else { continue }
      try await repository.record(storage, of: result.channel, in: scope)
      others[index].storage = storage
    }
    return ChannelAudit(listed: Set(listed), began: began, rows: known.rows, others: others)
  }

  /// Returns nil if the channel no longer exists.
  private func storage(
    of channel: ChannelID, in scope: ChannelScope
  ) async throws -> ChannelStorage? {
    do throws(ChannelError) {
      return try await client.storage(of: channel, in: scope)
    } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }

  /// Creates a channel, once: its row is written before the call to Apple.
  ///
  /// The channels at Apple are listed first, so that a channel whose response was lost can be
  /// distinguished from those that existed before.
  func create(_ newChannel: NewChannel) async throws -> Made {
    _ = try await audit(in: newChannel.scope)
    if let made = try await createAudited(newChannel) { return made }
    throw CommandFailure(
      "another command is creating a channel for ride \(newChannel.rideID?.text ?? "")")
  }

  /// Creates one of several channels after one shared audit; nil if the ride's channel is already
  /// being created.
  func createAudited(_ newChannel: NewChannel) async throws -> Made? {
    let claim = try await repository.claim(newChannel)
    guard claim.isBegun else {
      return claim.row.channel.map { Made(channel: $0, isNew: false) }
    }
    let channel: ChannelID
    do throws(ChannelError) {
      channel = try await client.create(newChannel)
    } catch {
      try await record(error, of: newChannel)
      guard error.mayHaveTakenEffect else { throw error }
      throw CommandFailure(
        "\(error); a channel may have been created: `ridepulse channels reconcile` finds it. Repeat "
          + "create for another one")
    }
    let isReported: Bool
    do {
      isReported = try await repository.made(channel, newChannel)
    } catch {
      throw CommandFailure(
        "APNs created the channel \(channel), but the database did not record it: \(error); "
          + "`ridepulse channels reconcile` finds it")
    }
    return Made(channel: channel, isNew: true, isReported: isReported)
  }

  private func record(_ error: ChannelError, of newChannel: NewChannel) async throws {
    guard error.mayHaveTakenEffect else {
      let reason = error.refusal?.reason ?? "not made"
      return try await repository.failed(newChannel, reason: reason)
    }
    try await repository.lost(requestID: newChannel.requestID)
    // The sooner a lost channel is listed, the fewer others can be mistaken for it. It may not be
    // listed yet.
    _ = try? await audit(in: newChannel.scope)
  }

  /// Deletes a channel permanently.
  ///
  /// - Returns: False if it was already gone.
  func delete(_ channel: ChannelID, in scope: ChannelScope) async throws -> Bool {
    let row = try await repository.row(of: channel, in: scope)
    var isGone = false
    do throws(ChannelError) {
      try await client.delete(channel, in: scope)
    } catch {
      guard error.isNotFound, row != nil else { throw error }
      isGone = true
    }
    if let row { try await repository.end([row.id], reason: isGone ? "gone" : "deleted") }
    return !isGone
  }

  /// Deletes leaked channels, and ends rows whose channel is gone or was never created.
  ///
  /// - Returns: The audit made after the deletions.
  func clear(_ audit: ChannelAudit, in scope: ChannelScope) async throws -> ChannelAudit {
    for result in audit.results where result.standing == .leaked {
      _ = try await delete(result.channel, in: scope)
    }
    let after = try await self.audit(in: scope)
    let missing = after.results.filter { $0.standing == .missing }.flatMap(\.rows)
    try await repository.end(missing.map(\.id), reason: "gone")
    try await repository.end(after.idle.map(\.id), reason: "made no channel that is left")
    return after
  }
}

extension ChannelError {
  /// Whether Apple answered that there is no such channel.
  fileprivate var isNotFound: Bool { refusal?.status == 404 }
}

extension ChannelAudit.Entry {
  fileprivate var needsStorage: Bool {
    guard let observation, observation.storage == nil else { return false }
    return standing == .leaked || standing == .unclear
  }
}
