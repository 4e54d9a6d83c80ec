import Base
import RideCore
import Testing
import Timeline

@testable import RuleFiles

/// Replays of days, by rules as people write them.
@Suite struct RehearsalTests {
  private static let arrived = """
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here, sound: default }
        expires: 5m
    """
  private static let heartbeat = """
      - { name: beat, app: driver, every: 20m, while: [driver_arrived], background: {}, expires: 5m }
    """
  private static let card = """
      - name: card
        app: customer
        live-activity:
          attributes-type: T
          content-state: { status: "{{ride.state}}" }
          start: driver_arrived
          end: [done]
          stale-after: 30m
        expires: 5m
    """

  private static func configuration(_ rules: String...) throws -> EngineConfiguration {
    let text = """
      states: { active: [requested, driver_arrived], final: [done] }
      events: [offer, unseen]
      rules:
      \(rules.joined(separator: "\n"))
      """
    let loaded = try RuleDirectory.parse(files: [(name: "rules.yaml", bytes: Array(text.utf8))])
      .get()
    return EngineConfiguration(
      rules: loaded.ruleSet, bundleIDs: [.customer: "c", .driver: "d"])
  }

  private static let header =
    #"{"day":1,"from":"2026-11-21T08:00:00Z","to":"2026-11-21T12:00:00Z"}"#
  private static let recordedHeader =
    #"{"day":1,"from":"2026-11-21T08:00:00Z","to":"2026-11-21T12:00:00Z","engine":"1"}"#
  private static let phone =
    #"{"at":"2026-11-21T08:00:00Z","phone":{"app":"customer","owner_id":"u1","token":"00aa"}}"#

  /// A ride of one customer and one driver, in the times of the clock.
  private static func ride(_ id: String = "r1") -> [String] {
    [
      #"{"at":"2026-11-21T08:01:00Z","ride":{"id":"\#(id)","state":"requested","customer_id":"u1","driver_id":"d1"}}"#,
      #"{"at":"2026-11-21T08:10:00Z","ride":{"id":"\#(id)","state":"driver_arrived"}}"#,
      #"{"at":"2026-11-21T09:15:00Z","ride":{"id":"\#(id)","state":"done"}}"#,
    ]
  }

  private static func replay(
    _ lines: [String], _ configuration: EngineConfiguration,
    _ options: Rehearsal.Options = Rehearsal.Options(), header: String = header
  ) throws -> Rehearsal.Result {
    var sum: Rehearsal.Result?
    for index in 0..<options.part.count {
      var options = options
      options.part.index = index
      var reader = DayReader()
      _ = try reader.read(Array(header.utf8))
      var rehearsal = Rehearsal(try #require(reader.header), by: configuration, options)
      for text in lines {
        if let line = try reader.read(Array(text.utf8), of: options.part) {
          try rehearsal.add(line, number: reader.lines)
        }
      }
      let result = rehearsal.finish()
      if sum == nil { sum = result } else { sum?.add(result) }
    }
    return try #require(sum)
  }

  private static func pushes(_ result: Rehearsal.Result) -> [String: Int] {
    result.figures.byRule.mapValues(\.pushes)
  }

  @Test func rowsOfAWarehouseEmitEventsAndEveryoneHasAPhone() throws {
    let configuration = try Self.configuration(Self.arrived, Self.heartbeat, Self.card)
    let result = try Self.replay(Self.ride(), configuration)
    // Heartbeats at 08:30, 08:50 and 09:10; the card starts, is refreshed, and ends.
    #expect(Self.pushes(result)["arrived"] == 1)
    #expect(Self.pushes(result)["beat"] == 3)
    #expect((Self.pushes(result)["card"] ?? 0) >= 3)
    #expect(result.figures.breaches == [:])
    #expect(result.figures.rides == 1)
    #expect(result.figures.byType["background"] == 3)
  }

  @Test func rowsOfARecordedDayEmitNothing() throws {
    let configuration = try Self.configuration(Self.arrived)
    let event = #"{"at":"2026-11-21T08:10:00Z","event":"driver_arrived","ride":"r1"}"#
    var lines = [Self.phone] + Self.ride()
    #expect(Self.pushes(try Self.replay(lines, configuration, header: Self.recordedHeader)) == [:])
    lines.insert(event, at: 3)
    let result = try Self.replay(lines, configuration, header: Self.recordedHeader)
    #expect(Self.pushes(result) == ["arrived": 1])
    #expect(result.figures.notSent == [:])
  }

  @Test func rowsThatWereThereBeforeEmitNothing() throws {
    let configuration = try Self.configuration(Self.arrived)
    let line =
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r1","state":"driver_arrived","customer_id":"u1","updated_at":"2026-11-21T07:00:00Z"}}"#
    #expect(Self.pushes(try Self.replay([line], configuration)) == [:])
  }

  @Test func partsOfADayAddUp() throws {
    let configuration = try Self.configuration(Self.arrived, Self.heartbeat, Self.card)
    let rides = (0..<20).map { Self.ride("r\($0)") }
    let lines = (0..<3).flatMap { step in rides.map { $0[step] } }
    var options = Rehearsal.Options()
    options.against = try Self.configuration(Self.arrived)
    let whole = try Self.replay(lines, configuration, options)
    options.part.count = 3
    let parts = try Self.replay(lines, configuration, options)
    #expect(parts.figures == whole.figures)
    #expect(parts.before == whole.before)
    #expect(parts.changes == whole.changes)
    #expect(whole.figures.rides == 20 && whole.changes.count(.added) > 20)
  }

  @Test func changesAreNamedWithExamples() throws {
    let old = try Self.configuration(Self.arrived, Self.heartbeat)
    let new = try Self.configuration(
      Self.arrived.replacing("is here", with: "waits"),
      Self.heartbeat.replacing("every: 20m", with: "every: 30m"))
    var options = Rehearsal.Options()
    options.against = old
    let changes = try Self.replay(Self.ride(), new, options).changes
    #expect(changes.groups["arrived"]?[.changed]?.count == 1)
    let example = try #require(changes.groups["arrived"]?[.changed]?.examples.first)
    #expect(example.ride == "r1" && CivilTime.exact(example.at) == "2026-11-21T08:10:00Z")
    #expect(example.before?.contains("is here") == true && example.after?.contains("waits") == true)
    // 08:30, 08:50 and 09:10 become 08:40 and 09:10: the last one is the same.
    #expect(changes.unchanged == 1)
    #expect(changes.groups["beat"]?[.late]?.count == 1)
    #expect(changes.groups["beat"]?[.removed]?.count == 1)
    #expect(changes.groups["beat"]?[.removed]?.examples.first?.after == nil)
    options.against = new
    #expect(try Self.replay(Self.ride(), new, options).changes.isEmpty)
  }

  @Test func rulesOfOneSideAloneAreAddedOrRemoved() throws {
    var options = Rehearsal.Options()
    options.against = try Self.configuration(Self.arrived)
    let both = try Self.configuration(Self.arrived, Self.heartbeat)
    #expect(try Self.replay(Self.ride(), both, options).changes.count(.added) == 3)
    options.against = both
    let one = try Self.configuration(Self.arrived)
    #expect(try Self.replay(Self.ride(), one, options).changes.count(.removed) == 3)
  }

  @Test(arguments: [
    (
      #"{"at":"2026-11-21T08:00:00Z","event":"offer","ride":"r9"}"#,
      "2: ride: the event offer of the unknown ride r9"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","card":{"ride":"r9","app":"customer","owner_id":"u1","token":"0a"}}"#,
      "2: card.ride: a card of the unknown ride r9"
    ),
    (
      #"{"at":"2026-11-21T07:59:59Z","ride":{"id":"r9"}}"#,
      "2: at: 2026-11-21T07:59:59Z is outside of the day"
    ),
  ])
  func contradictionsNameTheLine(_ text: String, _ expected: String) throws {
    let configuration = try Self.configuration(Self.arrived)
    do {
      _ = try Self.replay([text], configuration)
      Issue.record("no problem")
    } catch let problem as DayProblem {
      #expect(problem.description.hasPrefix(expected))
    }
  }

  @Test func phonesAndPreferencesCount() throws {
    let configuration = try Self.configuration(
      Self.arrived.replacing("expires: 5m", with: "expires: 5m\n    topic: arrival"))
    let gone = Self.phone.replacing("\"00aa\"", with: "\"00aa\",\"removed\":true")
    let off =
      #"{"at":"2026-11-21T08:00:00Z","preference":{"app":"customer","owner_id":"u1","topic":"arrival","allowed":false}}"#
    #expect(
      Self.pushes(try Self.replay([Self.phone] + Self.ride(), configuration)) == ["arrived": 1])
    let removed = try Self.replay([Self.phone, gone] + Self.ride(), configuration)
    #expect(removed.figures.notSent == ["arrived": ["no_phone": 1]])
    let optedOut = try Self.replay([Self.phone, off] + Self.ride(), configuration)
    #expect(optedOut.figures.notSent == ["arrived": ["opted_out": 1]])
  }

  @Test func receiptsEndEscalations() throws {
    let configuration = try Self.configuration(
      """
        - name: offer
          app: driver
          on: offer
          alert: { title: Offer }
          expires: 5m
          escalate: { unless-seen-within: 30s, emit: unseen }
        - { name: unseen, app: driver, on: unseen, alert: { title: Again }, expires: 5m }
      """)
    let phone =
      #"{"at":"2026-11-21T08:00:00Z","phone":{"app":"driver","owner_id":"d1","token":"00dd","receipts":true}}"#
    let offer = #"{"at":"2026-11-21T08:02:00Z","event":"offer","ride":"r1"}"#
    let seen = #"{"at":"2026-11-21T08:02:10Z","seen":{"ride":"r1","rule":"offer","token":"00dd"}}"#
    let lines = [phone, Self.ride()[0], offer]
    #expect(Self.pushes(try Self.replay(lines, configuration)) == ["offer": 1, "unseen": 1])
    let silent = phone.replacing(#","receipts":true"#, with: "")
    #expect(
      Self.pushes(try Self.replay([silent] + lines.dropFirst(), configuration)) == ["offer": 1])
    // The second offer is escalated, because the first was seen.
    let again = offer.replacing("08:02:00Z", with: "08:10:00Z")
    #expect(
      Self.pushes(
        try Self.replay([silent] + lines.dropFirst() + [seen, again], configuration))
        == ["offer": 2, "unseen": 1])
    for seen in [seen, seen.replacing(#","token":"00dd""#, with: "")] {
      #expect(Self.pushes(try Self.replay(lines + [seen], configuration)) == ["offer": 1])
    }
  }

  @Test func recordedAnswersAreGivenAgain() throws {
    let configuration = try Self.configuration(Self.arrived)
    func result(_ status: Int, _ reason: String) throws -> Rehearsal.Result {
      var answers = RecordedAnswers()
      var answer = RecordedAnswer(token: "00aa", status: status)
      answer.reason = reason
      answers.add(answer, at: try #require(CivilTime.instant(iso: "2026-11-21T08:10:00.2Z")))
      answer.status = 200
      answers.add(answer, at: try #require(CivilTime.instant(iso: "2026-11-21T08:10:01Z")))
      answers.end()
      var options = Rehearsal.Options()
      options.answers = answers
      return try Self.replay([Self.phone] + Self.ride(), configuration, options)
    }
    let gone = try result(410, "Unregistered")
    #expect(gone.figures.notSent == ["arrived": ["Unregistered": 1]])
    // Without a connection the push goes again, and is accepted.
    let away = try result(0, "no_connection")
    #expect(Self.pushes(away) == ["arrived": 1])
    #expect(away.figures.breaches == [:])
  }

  @Test func seedsSpreadRetriesAlike() throws {
    let configuration = try Self.configuration(Self.arrived)
    let faults = """
      when:
        - { at: 5m, apns: { status: 503, for: 6m } }
      """
    let start = try #require(CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    let steps = try FaultsFile.parse(Array(faults.utf8), named: "faults.yaml", from: start).get()
    func digest(_ seed: UInt64?) throws -> UInt64 {
      var options = Rehearsal.Options()
      options.faults = steps
      options.seed = seed
      return try #require(
        try Self.replay(Self.ride(), configuration, options).figures.byRule["arrived"]?.digest)
    }
    #expect(try digest(1) == digest(1))
    #expect(try digest(1) != digest(2))
    #expect(try digest(nil) != digest(1))
  }

  /// The end of a card goes again until APNs takes it: that is no push after the end.
  @Test func anEndThatGoesAgainBreaksNoPromise() throws {
    let configuration = try Self.configuration(Self.card)
    let faults = "when:\n  - { at: 74m, apns: { status: 503, for: 3m } }\n"
    let start = try #require(CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    var options = Rehearsal.Options()
    options.faults = try FaultsFile.parse(
      Array(faults.utf8), named: "faults.yaml", from: start
    ).get()
    let result = try Self.replay(Self.ride(), configuration, options)
    #expect(result.figures.breaches == [:])
    #expect(result.figures.notSent["card"] == nil)
  }

  @Test func faultsFilesHoldOnlyAnswers() throws {
    let text = "when:\n  - { at: 5m, contact: driver }\n"
    let start = try #require(CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    guard
      case .failure(let problems) = FaultsFile.parse(
        Array(text.utf8), named: "faults.yaml", from: start)
    else {
      Issue.record("no problem")
      return
    }
    #expect(problems.description.contains("faults.yaml:1:1"))
  }

  @Test func recordedOutcomesAreCompared() throws {
    let configuration = try Self.configuration(Self.arrived)
    let event = #"{"at":"2026-11-21T08:10:00Z","event":"driver_arrived","ride":"r1"}"#
    func outcome(_ status: String) -> String {
      #"{"at":"2026-11-21T08:10:01Z","outcome":{"ride":"r1","rule":"arrived","token":"00aa","status":"\#(status)","type":"alert","priority":10}}"#
    }
    func changes(_ outcome: String?) throws -> RehearsalChanges {
      var lines = [Self.phone] + Self.ride()
      lines.insert(event, at: 3)
      if let outcome { lines.insert(outcome, at: 4) }
      var options = Rehearsal.Options()
      options.comparesRecorded = true
      return try Self.replay(lines, configuration, options, header: Self.recordedHeader).changes
    }
    #expect(try changes(outcome("accepted")).isEmpty)
    #expect(try changes(outcome("accepted")).unchanged == 1)
    #expect(try changes(outcome("rejected")).count(.changed) == 1)
    #expect(try changes(nil).count(.added) == 1)
    let other = outcome("accepted").replacing("00aa", with: "00bb")
    #expect(try changes(other).count(.removed) == 1)
  }

  @Test func `An unchanged day with an event about no ride has no change, and counts its rides`()
    throws
  {
    let configuration = try Self.configuration(
      Self.arrived,
      "  - { name: offered, app: driver, on: offer, alert: { title: Offer }, expires: 5m }")
    let owners: [OwnerID] = ["d1", "d2"]
    let phones = owners.map {
      #"{"at":"2026-11-21T08:00:00Z","phone":{"app":"driver","owner_id":"\#($0)","token":"\#($0)"}}"#
    }
    let event =
      #"{"at":"2026-11-21T10:00:00Z","event":"offer","data":{"driver_id":["d1","d2"]}}"#
    let outcomes = owners.map {
      let ride = RideID(ofPerson: $0, app: .driver)
      return
        #"{"at":"2026-11-21T10:00:01Z","outcome":{"ride":"\#(ride)","rule":"offered","token":"\#($0)","status":"accepted","type":"alert","priority":10}}"#
    }
    var options = Rehearsal.Options()
    options.comparesRecorded = true
    let result = try Self.replay(
      phones + [Self.ride()[0], event] + outcomes, configuration, options,
      header: Self.recordedHeader)
    #expect(result.changes.isEmpty && result.changes.unchanged == 2)
    #expect(result.figures.rides == 1 && result.before?.rides == 1)
  }
}
