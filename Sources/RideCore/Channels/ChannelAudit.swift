package import Base

/// Compares the channels that Apple lists with the table, and determines the owner of each.
///
/// IDs are random, so a channel whose create response was lost carries no sign of its creator. Time
/// and number distinguish it from a channel of another service: it appeared while one of our
/// creates was without a response, it has the storage policy of that create, and there are no more
/// such channels than such creates. In any doubt a channel is not attributed to this service.
package struct ChannelAudit: Hashable, Sendable {
  /// The ownership of a channel.
  package enum Standing: String, CaseIterable, Hashable, Sendable {
    /// In the table, and not given up.
    case owned
    /// One of our creates is in progress and may have made it; the next listing decides.
    case pending
    /// Ours and unused: given up, or lost with the response to its create.
    case leaked
    /// Either lost by this service or owned by another one.
    case unclear
    /// Owned by another service.
    case foreign
    /// In the table, but no longer at Apple.
    case missing
  }

  /// The verdict on one channel.
  package struct Entry: Hashable, Sendable {
    package var channel: ChannelID
    package var standing: Standing
    /// The row that names the channel, or the creates without a response that explain it.
    package var rows: [ChannelRow]
    /// When the channel first appeared and when it was last absent; nil if a row names it.
    package var observation: OtherChannel?

    package init(
      _ channel: ChannelID, _ standing: Standing, rows: [ChannelRow] = [],
      observation: OtherChannel? = nil
    ) {
      self.channel = channel
      self.standing = standing
      self.rows = rows
      self.observation = observation
    }
  }

  /// The verdicts, sorted by standing and ID.
  package private(set) var results: [Entry] = []

  /// Creates without a response that made no channel, or one that is gone: nothing is left to find.
  package private(set) var idle: [ChannelRow] = []

  /// The number of channels that Apple lists.
  package let used: Int

  /// Compares a listing with the table.
  ///
  /// - Parameters:
  ///   - listed: the channels that Apple listed.
  ///   - began: when that listing was requested, by the clock of the rows.
  ///   - rows: all rows of the app and environment, read after the listing was received.
  ///   - others: the recorded channels that no row names, including those of this listing.
  package init(
    listed: Set<ChannelID>, began: Timestamp, rows: [ChannelRow], others: [OtherChannel]
  ) {
    used = listed.count
    var named: [ChannelID: ChannelRow] = [:]
    for row in rows { if let channel = row.channel { named[channel] = row } }
    for (channel, row) in named {
      if let standing = Self.standing(of: row, isListed: listed.contains(channel), began) {
        results.append(Entry(channel, standing, rows: [row]))
      }
    }
    let unnamed = others.filter { listed.contains($0.channel) && named[$0.channel] == nil }
    let lost = rows.filter { $0.channel == nil && $0.endedAt == nil }
    explain(unnamed, by: lost, began)
    let known = Set(results.map(\.channel))
    // They appeared while other channels were being recorded; the next listing decides.
    results += listed.subtracting(known).map { Entry($0, .pending) }
    results.sort { ($0.standing.order, $0.channel) < ($1.standing.order, $1.channel) }
  }

  /// Returns the standing of a channel that a row names; nil if there is nothing to report.
  private static func standing(
    of row: ChannelRow, isListed: Bool, _ began: Timestamp
  ) -> Standing? {
    if let endedAt = row.endedAt {
      // It may have been deleted while Apple compiled the list.
      return isListed ? (endedAt < began ? .leaked : .pending) : nil
    }
    if isListed { return .owned }
    return row.confirmedAt.map { $0 < began } ?? false ? .missing : nil
  }

  private mutating func explain(
    _ unnamed: [OtherChannel], by lost: [ChannelRow], _ began: Timestamp
  ) {
    let candidates = unnamed.map { observation in lost.filter { $0.mayHaveMade(observation) } }
    for (observation, rows) in zip(unnamed, candidates) {
      var standing = Standing.foreign
      if rows.contains(where: { $0.mayBeUnderWay(at: began) }) {
        standing = .pending
      } else if !rows.isEmpty {
        standing = Self.hasOneEach(rows, candidates) ? .leaked : .unclear
      }
      results.append(
        Entry(observation.channel, standing, rows: rows, observation: observation))
    }
    let explaining = Set(candidates.joined().map(\.id))
    idle = lost.filter {
      !explaining.contains($0.id) && began >= $0.createdAt + ChannelRow.longestCall
    }
  }

  /// Returns whether each channel can be matched with its own create, among all channels that share
  /// creates with these.
  ///
  /// A create makes one channel, so if there are too few creates, another service made some of the
  /// channels.
  private static func hasOneEach(_ rows: [ChannelRow], _ candidates: [[ChannelRow]]) -> Bool {
    var group = Set(rows.map(\.id))
    var touching: [[Int64]] = []
    while true {
      touching = candidates.map { $0.map(\.id) }.filter { !group.isDisjoint(with: $0) }
      let grown = group.union(touching.joined())
      if grown.count == group.count { break }
      group = grown
    }
    var taken: [Int64: Int] = [:]
    for index in touching.indices {
      var seen: Set<Int64> = []
      if !assign(index, touching, &taken, &seen) { return false }
    }
    return true
  }

  /// Matches one more channel with a create, reassigning other channels if necessary.
  private static func assign(
    _ index: Int, _ candidates: [[Int64]], _ taken: inout [Int64: Int], _ seen: inout Set<Int64>
  ) -> Bool {
    for create in candidates[index] where seen.insert(create).inserted {
      if let holder = taken[create], !assign(holder, candidates, &taken, &seen) { continue }
      taken[create] = index
      return true
    }
    return false
  }

  /// Returns the number of channels with this standing.
  package func count(_ standing: Standing) -> Int {
    results.count { $0.standing == standing }
  }
}

extension ChannelAudit.Standing {
  fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension ChannelRow {
  /// Returns whether this create may have made a channel that appeared while it was in progress.
  fileprivate func mayHaveMade(_ other: OtherChannel) -> Bool {
    // Without an earlier listing, the channel may be as old as the app.
    guard let absentAt = other.absentAt else { return false }
    guard other.storage.map({ $0 == storage }) ?? true else { return false }
    return other.seenAt > createdAt && absentAt < createdAt + Self.longestCall
  }

  /// Returns whether the response may still arrive.
  fileprivate func mayBeUnderWay(at now: Timestamp) -> Bool {
    unansweredAt == nil && now < createdAt + Self.longestCall
  }
}
