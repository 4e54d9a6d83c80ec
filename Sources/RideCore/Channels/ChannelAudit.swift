/// What Apple lists, compared with what stands in the table: whose each channel is.
///
/// IDs are random, so a channel whose create was lost carries no sign of us. What tells it from
/// somebody else's is time and number: it came into being when a create of ours was without an
/// answer, it has that create's storage, and there are no more such channels than such creates. In
/// any doubt a channel is not called ours.
package struct ChannelAudit: Hashable, Sendable {
  /// Whose a channel is.
  package enum Standing: String, CaseIterable, Hashable, Sendable {
    /// In the table, and not given up.
    case owned
    /// A create of ours is under way that may have made it; the next listing knows more.
    case pending
    /// Ours, and of no use to anybody: given up, or lost with the answer to its create.
    case leaked
    /// It may be one that was lost here, or somebody else's.
    case unclear
    /// Somebody else's.
    case foreign
    /// In the table, and no longer at Apple.
    case missing
  }

  /// One channel's verdict.
  package struct CheckResult: Hashable, Sendable {
    /// The channel.
    package var channel: ChannelID
    /// Whose it is.
    package var standing: Standing
    /// The row that names it, or the creates without an answer that explain it.
    package var rows: [ChannelRow]
    /// When it was seen first and was not there yet, where no row names it.
    package var sighting: OtherChannel?

    /// A verdict.
    package init(
      _ channel: ChannelID, _ standing: Standing, rows: [ChannelRow] = [],
      sighting: OtherChannel? = nil
    ) {
      self.channel = channel
      self.standing = standing
      self.rows = rows
      self.sighting = sighting
    }
  }

  /// The verdicts, sorted by standing and ID.
  package private(set) var findings: [CheckResult] = []

  /// Creates without an answer that made no channel, or one that is gone: nothing is left to find.
  package private(set) var idle: [ChannelRow] = []

  /// How many channels Apple lists.
  package let used: Int

  /// Compares.
  ///
  /// - Parameters:
  ///   - listed: what Apple listed.
  ///   - began: when that listing was asked for, by the clock of the rows.
  ///   - rows: all rows of the app and environment, read after the listing had come.
  ///   - others: what was noted of channels that no row names, this listing included.
  package init(
    listed: Set<ChannelID>, began: Timestamp, rows: [ChannelRow], others: [OtherChannel]
  ) {
    used = listed.count
    var named: [ChannelID: ChannelRow] = [:]
    for row in rows { if let channel = row.channel { named[channel] = row } }
    for (channel, row) in named {
      if let standing = Self.standing(of: row, isListed: listed.contains(channel), began) {
        findings.append(CheckResult(channel, standing, rows: [row]))
      }
    }
    let sightings = others.filter { listed.contains($0.channel) && named[$0.channel] == nil }
    let lost = rows.filter { $0.channel == nil && $0.endedAt == nil }
    explain(sightings, by: lost, began)
    let known = Set(findings.map(\.channel))
    // Came while others were noted: the next listing knows more.
    findings += listed.subtracting(known).map { CheckResult($0, .pending) }
    findings.sort { ($0.standing.order, $0.channel) < ($1.standing.order, $1.channel) }
  }

  /// The standing of a channel that a row names; nil where there is nothing to say of it.
  private static func standing(
    of row: ChannelRow, isListed: Bool, _ began: Timestamp
  ) -> Standing? {
    if let endedAt = row.endedAt {
      // It may have been deleted while Apple wrote the list.
      return isListed ? (endedAt < began ? .leaked : .pending) : nil
    }
    if isListed { return .owned }
    return row.confirmedAt.map { $0 < began } ?? false ? .missing : nil
  }

  private mutating func explain(
    _ sightings: [OtherChannel], by lost: [ChannelRow], _ began: Timestamp
  ) {
    let candidates = sightings.map { sighting in lost.filter { $0.mayHaveMade(sighting) } }
    for (sighting, rows) in zip(sightings, candidates) {
      var standing = Standing.foreign
      if rows.contains(where: { $0.mayBeUnderWay(at: began) }) {
        standing = .pending
      } else if !rows.isEmpty {
        standing = Self.hasOneEach(rows, candidates) ? .leaked : .unclear
      }
      findings.append(CheckResult(sighting.channel, standing, rows: rows, sighting: sighting))
    }
    let explaining = Set(candidates.joined().map(\.id))
    idle = lost.filter {
      !explaining.contains($0.id) && began >= $0.createdAt + ChannelRow.longestCall
    }
  }

  /// Whether there is a create for each channel, among all channels that share creates with these:
  /// one create makes one channel, so where there are too few, somebody else made some.
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

  /// Finds a create for one more channel, where need be by giving others another one.
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

  /// How many channels stand so.
  package func count(_ standing: Standing) -> Int {
    findings.count { $0.standing == standing }
  }
}

extension ChannelAudit.Standing {
  fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension ChannelRow {
  /// A create may have made a channel that came into being while it was under way.
  fileprivate func mayHaveMade(_ other: OtherChannel) -> Bool {
    // Without a listing before it, the channel may be as old as the app.
    guard let absentAt = other.absentAt else { return false }
    guard other.storage.map({ $0 == storage }) ?? true else { return false }
    return other.seenAt > createdAt && absentAt < createdAt + Self.longestCall
  }

  /// Its answer may still come.
  fileprivate func mayBeUnderWay(at now: Timestamp) -> Bool {
    unansweredAt == nil && now < createdAt + Self.longestCall
  }
}
