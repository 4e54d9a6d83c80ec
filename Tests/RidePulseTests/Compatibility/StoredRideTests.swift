import Base
import Foundation
import RideCore
import RuleFiles
import Testing
import TestSupport
import Timeline

/// A ride that 0.1.0 left behind: each later version goes on with it as 0.1.0 would.
///
/// The files are not recorded again: a version that can't read them breaks docs/compatibility.md.
@Suite("What 0.1.0 stored of a ride") struct StoredRideTests {
  private static let folder = Project.path("Tests/Compatibility/0.1.0")
  private static let start = Timestamp(epochSeconds: 1_800_000_000)

  private let configuration: EngineConfiguration

  init() throws {
    let rules = try RuleDirectory.load(Self.folder + "/ride").get().ruleSet
    configuration = EngineConfiguration(
      rules: rules,
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
  }

  private func view(events: [RideEvent] = [], memo: Memo = Memo()) -> RideView {
    var ride = Ride(id: "r1", state: "driver_arrived")
    (ride.customerID, ride.driverID) = ("c", "d")
    ride.attributes = #"{"plate": "B-RP 1"}"#
    let card = Card(
      .activity(21), app: .customer, ownerID: "c", token: "ca", registeredAt: Self.start)
    return RideView(
      rideID: "r1", ride: ride, events: events,
      phones: [
        Phone(id: 11, app: .customer, ownerID: "c", token: "c1", environment: nil, locale: nil),
        Phone(id: 12, app: .driver, ownerID: "d", token: "d1", environment: nil, locale: nil),
      ], cards: [card], memo: memo)
  }

  /// The arrival at which APNs was restarting: the alert waits for its second attempt.
  private func firstDecision() -> (decision: Decision, outcomes: [PushOutcome]) {
    let event = RideEvent(id: 7, name: "driver_arrived", at: Self.start, data: #"{"eta": 3}"#)
    let decision = decide(view(events: [event]), by: configuration, now: Self.start)
    return (
      decision,
      decision.pushes.map { push in
        push.entry.rule == "arrived"
          ? .refused(Refusal(status: 503, reason: "Shutdown")) : .accepted
      }
    )
  }

  /// Returns a file of 0.1.0; one that is not there yet is written with a text.
  private func stored(_ name: String, as text: String) throws -> String {
    let file = "\(Self.folder)/ride/\(name)"
    if Golden.isRecording, !FileManager.default.fileExists(atPath: file) {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  @Test func `Its memo leads to the same pushes`() throws {
    let (first, outcomes) = firstDecision()
    let now = first.settled(outcomes, now: Self.start, jitter: { 0.5 }).memo
    let text = try stored("memo.json", as: try JSONText.normalized(Data(now.storedText.utf8)))
    let memo = try Memo(storedText: text)
    #expect(memo == now)
    var lines: [String] = []
    for seconds in [30, 1800] as [Int64] {
      let later = Self.start + .seconds(seconds)
      let decision = decide(view(memo: memo), by: configuration, now: later)
      lines += decision.pushes.map { push in
        let entry = push.entry
        let payload = String(decoding: push.payload, as: UTF8.self)
        return "+\(seconds)s \(entry.rule) \(entry.id) event \(entry.event.id) \(payload)"
      }
      lines += decision.items.map { "+\(seconds)s \($0.entry.rule) \($0.entry.status.rawValue)" }
    }
    let found = lines.map { $0 + "\n" }.joined()
    #expect(try found == stored("pushes.txt", as: found))
  }

  @Test func `Its recorded pass becomes the same lines of a day`() throws {
    let (decision, outcomes) = firstDecision()
    let end = Self.start + .seconds(1)
    var times = PassTimes(
      decidedAt: Self.start, sample: RecordSample(text: "100%"),
      pushes: decision.pushes.count, at: .seconds(10))
    for index in decision.pushes.indices { times.answer(index, at: .milliseconds(10_035)) }
    let settlement = decision.settled(outcomes, now: end, jitter: { 0.5 })
    let pass = try #require(RecordedPass(decision, outcomes, settlement, times, now: end))
    let json = try stored("pass.json", as: pass.json)
    let names = Pseudonyms(salt: "a salt of some length")
    var recorder = DayRecorder(
      names, HarmlessValues(names, keeping: [], rules: configuration.rules),
      from: Self.start - .seconds(60))
    recorder.add("r1", fence: 1, json: json)
    let lines = recorder.lines(before: nil).map { String(decoding: $0.json, as: UTF8.self) + "\n" }
      .joined()
    #expect(lines.contains("outcome") && lines.contains("503"))
    #expect(try lines == stored("pass.jsonl", as: lines))
  }

  @Test func `Its day is rehearsed with the same figures`() throws {
    let result = try Command.ridepulse([
      "rehearse", Self.folder + "/day.jsonl", "--schedules", Self.folder + "/ride", "--against",
      "recorded", "--format", "json",
    ])
    #expect(result.status == 2, "\(result.errors)")
    let found = try #require(JSONValue(json: result.output.utf8))
    let text = try String(contentsOfFile: Self.folder + "/rehearsal.json", encoding: .utf8)
    let expected = try #require(JSONValue(json: text.utf8))
    #expect(Self.missing(in: found, of: expected) == [])
  }

  /// Returns the parts of a value that another one lacks or has otherwise; further members may be there.
  private static func missing(
    in found: JSONValue?, of expected: JSONValue, at path: String = "$"
  ) -> [String] {
    guard let found else { return ["\(path) is missing"] }
    if case .object(let members) = expected {
      return members.flatMap { missing(in: found[$0], of: $1, at: "\(path).\($0)") }
    }
    if case .array(let elements) = expected, elements.count == found.elements.count,
      !elements.isEmpty
    {
      return zip(elements, found.elements).enumerated().flatMap {
        missing(in: $1.1, of: $1.0, at: "\(path)[\($0)]")
      }
    }
    return found == expected ? [] : ["\(path) is \(found), not \(expected)"]
  }
}
