import Testing
import TestSupport

@testable import Base
@testable import Orchestrator
@testable import PostgresStore
@testable import RideCore
@testable import RidePulse

@Suite struct LiveMessageTests {
  private static let now = Timestamp(epochSeconds: 1_000_000)

  private func add(
    _ count: Int, _ status: LedgerEntry.Status, _ reason: String? = nil, after delay: Duration,
    to tally: inout PushTally
  ) {
    let event = RideEvent(id: 1, name: "e", at: Self.now - delay)
    let entry = LedgerEntry(
      id: PushID(of: "x"), event: event, rule: "r", app: .customer, pushType: .alert,
      status: status, reason: reason.map { LedgerReason(LedgerReason.Code(word: $0), $0) },
      attempts: 1)
    let settlement = Settlement(
      rideID: "r1", entries: Array(repeating: entry, count: count))
    tally.add([settlement], at: Self.now)
  }

  @Test(
    arguments: [
      (0.5, [0, 0, 0], nil), (0.5, [10, 0, 0], 0.5), (1, [10, 0, 0], 1), (0.5, [1, 1, 0], 1),
      (0.99, [0, 100, 0], 1.99), (0.75, [2, 2, 0], 1.5), (0.99, [1, 0, 1], 2), (0.5, [0, 0, 7], 2),
    ] as [(Double, [Int], Double?)])
  func `A quantile lies evenly between two bounds, and never beyond the last`(
    share: Double, counts: [Int], expected: Double?
  ) {
    #expect(Quantile.seconds(share, of: counts, bounds: [1, 2]) == expected)
  }

  @Test func `A window contains the last minute and reports its length`() {
    var window = LiveWindow()
    #expect(window.change.lines.isEmpty && window.change.span == .zero)
    var tally = PushTally()
    add(5, .accepted, after: .milliseconds(3), to: &tally)
    window.add(tally, at: .seconds(100))
    #expect(window.change.lines.map(\.count) == [0])
    add(2, .accepted, after: .milliseconds(3), to: &tally)
    window.add(tally, at: .seconds(130))
    #expect(window.change.lines.map(\.count) == [2])
    #expect(window.change.delays[.alert]?.first == 2)
    #expect(window.change.span == .seconds(30))
    add(1, .rejected, "BadDeviceToken", after: .zero, to: &tally)
    window.add(tally, at: .seconds(161))
    // The first reading is older than a minute.
    #expect(window.change.lines.map(\.count) == [0, 1])
    #expect(window.change.lines.map(\.total) == [7, 1])
    #expect(window.change.span == .seconds(31))
    window.add(tally, at: .seconds(900))
    #expect(window.change.span == .zero)
  }

  private func message(
    _ database: LiveMessage.Database, _ change: LiveWindow.Change = .init(),
    problems: [String] = [], cell: String? = nil
  ) throws -> JSONValue {
    let lane = EngineStatistics.Lane(network: .production, app: "customer", pausedBy: .refused)
    let reading = ServiceMetrics.Reading(
      tally: PushTally(),
      engine: EngineStatistics(
        ridesHeld: 3, lanes: [lane], sinceClaim: nil, databaseAhead: nil),
      transport: [], apnsAhead: .zero, listenIsHealthy: true, problems: problems,
      database: nil)
    let message = LiveMessage(
      now: Self.now, node: "n", cell: cell, reading: reading, change: change, database: database)
    #expect(!message.json.contains(UInt8(ascii: "\n")), "a line break would end the event")
    return try #require(JSONValue(json: message.json))
  }

  @Test func `A message contains the known values and marks the unknown ones`() throws {
    let unknown = try message(.unknown)
    #expect(unknown.value(at: ["database"]) == .null && unknown.value(at: ["rides"]) == .null)
    #expect(unknown.value(at: ["ready"]) == .bool(true) && unknown.value(at: ["cell"]) == .null)
    let silent = try message(.silent, problems: ["a\nb"], cell: "wien")
    #expect(silent.value(at: ["cell"]) == .string("wien"))
    #expect(silent.value(at: ["database"]) == .bool(false))
    #expect(silent.value(at: ["ready"]) == .bool(false))
    #expect(silent.value(at: ["problems"]) == .array([.string("a\nb")]))
    let gauges = RideGauges(
      liveRides: 9, dueRides: 10_000, oldestDue: .milliseconds(1500), parkedRides: 1,
      quarantinedPhones: 0, channels: [:], oldestTransaction: nil)
    let states = RideStates(counts: [.init(state: "<b>\n", rides: 6)], rides: 9)
    let known = try message(.answers(gauges, states))
    #expect(known.value(at: ["rides", "due_cut"]) == .bool(true))
    #expect(known.value(at: ["rides", "oldest_due_s"]) == .number(1.5))
    #expect(known.value(at: ["rides", "other_states"]) == .integer(3))
    #expect(
      known.value(at: ["rides", "states"])
        == .array([.object(["state": .string("<b>\n"), "n": .integer(6)])]))
    #expect(
      known.value(at: ["lanes"])
        == .array([
          .object([
            "app": .string("customer"), "environment": .string("production"), "paused": .bool(true),
            "cause": .string("refused"),
          ])
        ]))
  }

  @Test func `Verdicts of all types are summed by reason, the most frequent first`() throws {
    var window = LiveWindow()
    var tally = PushTally()
    window.add(tally, at: .zero)
    add(1, .rejected, "BadDeviceToken", after: .zero, to: &tally)
    add(3, .accepted, after: .milliseconds(1), to: &tally)
    add(2, .pending, "InternalServerError", after: .zero, to: &tally)
    for reason in ["waiting", "waiting_for_receipt", "quiet_hours"] {
      add(1, .pending, reason, after: .zero, to: &tally)
    }
    window.add(tally, at: .seconds(10))
    let message = try message(.unknown, window.change)
    guard case .array(let verdicts) = message.value(at: ["verdicts"]) else {
      throw TestFailure("\(message)")
    }
    let lines = verdicts.map { verdict in
      ["status", "reason", "n"].map { "\(verdict.value(at: [$0]) ?? .null)" }.joined(separator: " ")
    }
    #expect(
      lines == [
        #"string("accepted") string("") integer(3)"#,
        #"string("tried again") string("InternalServerError") integer(2)"#,
        #"string("rejected") string("BadDeviceToken") integer(1)"#,
        #"string("waiting") string("quiet_hours") integer(1)"#,
        #"string("waiting") string("waiting") integer(1)"#,
        #"string("waiting") string("waiting_for_receipt") integer(1)"#,
      ])
    #expect(message.value(at: ["all", "n"]) == .integer(3))
    #expect(message.value(at: ["window_s"]) == .integer(10))
  }
}
