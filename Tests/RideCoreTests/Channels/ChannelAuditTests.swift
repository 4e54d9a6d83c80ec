import Base
import RideCore
import Testing
import TestSupport

/// One table of the creates and listings of all parties; times are in seconds after a fixed hour.
@Suite struct ChannelAuditTests {
  typealias Standing = ChannelAudit.Standing

  private static func at(_ seconds: Int64) -> Timestamp {
    Timestamp(epochSeconds: 1_790_000_000 + seconds)
  }

  private static func id(_ text: String) throws -> ChannelID { try #require(ChannelID(text)) }

  private static func row(
    _ id: Int64, _ channel: String? = nil, _ storage: ChannelStorage = .latest, created: Int64,
    confirmed: Int64? = nil, unanswered: Int64? = nil, ended: Int64? = nil
  ) -> ChannelRow {
    var row = ChannelRow(
      id: id, app: .customer, channel: channel.flatMap { ChannelID($0) }, storage: storage,
      requestID: PushID(of: "\(id)"), createdAt: at(created))
    row.confirmedAt = confirmed.map(at) ?? (channel == nil ? nil : at(created + 1))
    row.unansweredAt = unanswered.map(at)
    row.endedAt = ended.map(at)
    row.endedReason = ended == nil ? nil : "deleted"
    return row
  }

  private static func other(
    _ channel: String, absent: Int64?, seen: Int64, _ storage: ChannelStorage? = nil
  ) throws -> OtherChannel {
    OtherChannel(
      channel: try id(channel), absentAt: absent.map(at), seenAt: at(seen), storage: storage)
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var listed: String
    var began: Int64
    var rows: [ChannelRow]
    var others: [OtherChannel]
    var expected: [String: Standing]
    var idle: [Int64] = []

    init(
      _ name: String, _ listed: String, began: Int64 = 1000, _ rows: [ChannelRow],
      _ others: [OtherChannel], _ expected: [String: Standing], idle: [Int64] = []
    ) {
      testDescription = name
      self.listed = listed
      self.began = began
      self.rows = rows
      self.others = others
      self.expected = expected
      self.idle = idle
    }
  }

  private static let cases: Result<[Case], any Error> = Result { try own() + strange() }

  private static func own() throws -> [Case] {
    [
      Case("nothing", "", [], [], [:]),
      Case("ours, and there", "A", [row(1, "A", created: 0)], [], ["A": .owned]),
      Case("ours, and gone", "", [row(1, "A", created: 0)], [], ["A": .missing]),
      Case(
        "ours, made while Apple wrote the list", "",
        [row(1, "A", created: 999, confirmed: 1001)], [], [:]),
      Case("given up, and gone", "", [row(1, "A", created: 0, ended: 5)], [], [:]),
      Case(
        "given up, and still there", "A", [row(1, "A", created: 0, ended: 5)], [], ["A": .leaked]),
      Case(
        "given up while Apple wrote the list", "A", [row(1, "A", created: 0, ended: 1001)],
        [], ["A": .pending]),
      Case("listed, and noted by nobody yet", "A", [], [], ["A": .pending]),
    ]
  }

  private static func strange() throws -> [Case] {
    let lost = row(1, created: 100, unanswered: 110)
    let during = try other("A", absent: 99, seen: 112)
    return [
      Case("somebody else's", "A", [], [try other("A", absent: 5, seen: 9)], ["A": .foreign]),
      Case("R32: lost", "A", [lost], [during], ["A": .leaked]),
      Case(
        "R32: lost, and made once more", "AB", [lost, row(2, "B", created: 120)], [during],
        ["A": .leaked, "B": .owned]),
      Case(
        "lost with its node, a minute ago", "A", [row(1, created: 100)], [during],
        ["A": .leaked]),
      Case("still under way", "A", began: 112, [row(1, created: 100)], [during], ["A": .pending]),
      Case(
        "unanswered, and the list has just come", "A", began: 111, [lost], [during],
        ["A": .leaked]),
      Case(
        "it was there before the create", "A", [lost],
        [try other("A", absent: 5, seen: 100)], ["A": .foreign], idle: [1]),
      Case(
        "it came long after the create", "A", [lost],
        [try other("A", absent: 160, seen: 170)], ["A": .foreign], idle: [1]),
      Case(
        "nobody had listed before the create", "A", [lost],
        [try other("A", absent: nil, seen: 112)], ["A": .foreign], idle: [1]),
      Case(
        "its storage is another", "A", [lost],
        [try other("A", absent: 99, seen: 112, .nothing)], ["A": .foreign], idle: [1]),
      Case(
        "its storage is the same", "A", [lost],
        [try other("A", absent: 99, seen: 112, .latest)], ["A": .leaked]),
      Case(
        "two came, and one create was lost", "AB", [lost],
        [during, try other("B", absent: 99, seen: 112)], ["A": .unclear, "B": .unclear]),
      Case(
        "two came, and the storage shows which", "AB", [lost],
        [during, try other("B", absent: 99, seen: 112, .nothing)], ["A": .leaked, "B": .foreign]),
      Case(
        "two came, and two creates were lost", "AB", [lost, row(2, created: 101, unanswered: 111)],
        [during, try other("B", absent: 99, seen: 112)], ["A": .leaked, "B": .leaked]),
      Case(
        "three came; four creates, but two of the channels only by the first", "ABC",
        [lost] + (2...4).map { row($0, created: 200, unanswered: 210) },
        [
          during, try other("B", absent: 99, seen: 112), try other("C", absent: 99, seen: 250),
        ], ["A": .unclear, "B": .unclear, "C": .unclear]),
      Case(
        "the create was refused", "A", [row(1, created: 100, ended: 110)], [during],
        ["A": .foreign]),
      Case("it never was made", "", [lost], [], [:], idle: [1]),
      Case("it may yet be made", "", began: 112, [lost], [], [:]),
      Case("it is gone again", "", [lost], [during], [:], idle: [1]),
      Case(
        "others are left alone beside", "AB", [lost],
        [during, try other("B", absent: nil, seen: 5)], ["A": .leaked, "B": .foreign]),
    ]
  }

  @Test(arguments: (try? cases.get()) ?? [])
  func verdicts(of example: Case) throws {
    let audit = ChannelAudit(
      listed: Set(example.listed.compactMap { ChannelID(String($0)) }),
      began: Self.at(example.began),
      rows: example.rows, others: example.others)
    let found = Dictionary(
      uniqueKeysWithValues: audit.results.map { ($0.channel.rawValue, $0.standing) })
    #expect(found == example.expected)
    #expect(audit.idle.map(\.id) == example.idle)
    #expect(audit.used == example.listed.count)
  }

  @Test func `there are cases`() throws {
    #expect(try Self.cases.get().count > 25)
  }

  /// Regardless of what was recorded, no channel is deleted that is older than all creates or that
  /// no create explains.
  @Test func `R32: a channel that no lost create explains is never called leaked`() throws {
    var numbers = SeededGenerator(seed: TestSeed.value(2))
    for _ in 0..<500 {
      let rows = (0..<Int64.random(in: 0...4, using: &numbers)).map {
        Self.row(
          $0, created: .random(in: 100...300, using: &numbers),
          unanswered: .random(in: 300...310, using: &numbers))
      }
      let others = try "ABCDEF".map { letter in
        let absent = Int64.random(in: 0...400, using: &numbers)
        return try Self.other(
          String(letter), absent: absent, seen: absent + .random(in: 1...50, using: &numbers),
          ChannelStorage.allCases.randomElement(using: &numbers))
      }
      let audit = ChannelAudit(
        listed: Set(others.map(\.channel)), began: Self.at(1000), rows: rows, others: others)
      #expect(audit.count(.leaked) <= rows.count)
      for result in audit.results where result.standing == .leaked {
        let observation = try #require(result.observation)
        #expect(
          rows.contains { row in
            observation.seenAt > row.createdAt && row.storage == observation.storage
          })
      }
    }
  }
}
