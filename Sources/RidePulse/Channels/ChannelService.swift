import APNSClient
import PostgresStore
import RideCore

/// Channels at Apple together with their rows: each is made, given up and looked for in both.
struct ChannelService: Sendable {
  let client: ChannelClient
  let repository: ChannelRepository

  /// What became of a wish.
  struct Made: Sendable {
    var channel: ChannelID
    /// False where the ride had it already.
    var isNew: Bool
    /// False where an app has the ride locked, so that it does not have the ID yet.
    var isReported = true
  }

  /// `apns-request-id` of another create.
  static func newRequestID() -> PushID {
    PushID(of: "channel", "\(UInt128.random(in: 0...UInt128.max))")
  }

  /// Lists what is at Apple, and tells whose each channel is.
  func audit(in scope: ChannelScope) async throws -> ChannelAudit {
    let began = try await repository.now()
    let listed = try await client.all(in: scope)
    let known = try await repository.record(listed, began: began, in: scope)
    var others = known.others
    let audit = ChannelAudit(
      listed: Set(listed), began: began, rows: known.rows, others: others)
    // What a channel keeps tells some of those apart that time does not.
    for finding in audit.findings where finding.asksForStorage {
      guard let index = others.firstIndex(where: { $0.channel == finding.channel }),
        let storage = try await storage(of: finding.channel, in: scope)
      else { continue }
      try await repository.record(storage, of: finding.channel, in: scope)
      others[index].storage = storage
    }
    return ChannelAudit(listed: Set(listed), began: began, rows: known.rows, others: others)
  }

  /// Nil where it is gone by now.
  private func storage(
    of channel: ChannelID, in scope: ChannelScope
  ) async throws -> ChannelStorage? {
    do throws(ChannelError) {
      return try await client.storage(of: channel, in: scope)
    } catch {
      if error.saysNotFound { return nil }
      throw error
    }
  }

  /// Makes a channel, once: its row is written before Apple is asked.
  ///
  /// Whatever is at Apple is listed first, so that a channel whose answer is lost can be told from
  /// those that were there.
  func create(_ wish: ChannelWish) async throws -> Made {
    _ = try await audit(in: wish.scope)
    if let made = try await createAudited(wish) { return made }
    throw CommandFailure("a channel for ride \(wish.rideID?.text ?? "") is being made right now")
  }

  /// The same, of several channels after one audit; nil where somebody is making the ride's already.
  func createAudited(_ wish: ChannelWish) async throws -> Made? {
    let claim = try await repository.claim(wish)
    guard claim.isBegun else {
      return claim.row.channel.map { Made(channel: $0, isNew: false) }
    }
    let channel: ChannelID
    do throws(ChannelError) {
      channel = try await client.create(wish)
    } catch {
      try await record(error, of: wish)
      guard error.mayHaveTakenEffect else { throw error }
      throw CommandFailure(
        "\(error); a channel may have been made: `ridepulse channels reconcile` finds it. Ask again "
          + "for another one")
    }
    let isReported: Bool
    do {
      isReported = try await repository.made(channel, wish)
    } catch {
      throw CommandFailure(
        "APNs made the channel \(channel), but the database did not take it: \(error); "
          + "`ridepulse channels reconcile` will find it")
    }
    return Made(channel: channel, isNew: true, isReported: isReported)
  }

  private func record(_ error: ChannelError, of wish: ChannelWish) async throws {
    guard error.mayHaveTakenEffect else {
      let reason = error.refusal?.reason ?? "not made"
      return try await repository.failed(wish, reason: reason)
    }
    try await repository.lost(requestID: wish.requestID)
    // The sooner a lost channel is seen, the less else can be taken for it. It may be too soon.
    _ = try? await audit(in: wish.scope)
  }

  /// Deletes a channel, for ever.
  ///
  /// - Returns: False where it was gone already.
  func delete(_ channel: ChannelID, in scope: ChannelScope) async throws -> Bool {
    let row = try await repository.row(of: channel, in: scope)
    var isGone = false
    do throws(ChannelError) {
      try await client.delete(channel, in: scope)
    } catch {
      guard error.saysNotFound, row != nil else { throw error }
      isGone = true
    }
    if let row { try await repository.end([row.id], reason: isGone ? "gone" : "deleted") }
    return !isGone
  }

  /// Deletes what leaked, and gives up rows whose channel is gone or never was.
  ///
  /// - Returns: How things stand then.
  func clear(_ audit: ChannelAudit, in scope: ChannelScope) async throws -> ChannelAudit {
    for finding in audit.findings where finding.standing == .leaked {
      _ = try await delete(finding.channel, in: scope)
    }
    let after = try await self.audit(in: scope)
    let missing = after.findings.filter { $0.standing == .missing }.flatMap(\.rows)
    try await repository.end(missing.map(\.id), reason: "gone")
    try await repository.end(after.idle.map(\.id), reason: "made no channel that is left")
    return after
  }
}

extension ChannelError {
  /// Apple's way to say that there is no such channel.
  fileprivate var saysNotFound: Bool { refusal?.status == 404 }
}

extension ChannelAudit.CheckResult {
  fileprivate var asksForStorage: Bool {
    guard let sighting, sighting.storage == nil else { return false }
    return standing == .leaked || standing == .unclear
  }
}
