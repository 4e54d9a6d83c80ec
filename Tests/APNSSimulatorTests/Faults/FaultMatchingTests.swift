import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct FaultReaderTests {
  @Test(arguments: [
    (#"{"delay_ms":5}"#, FaultAction.proceed), (#"{"stall":true}"#, .stall),
    (#"{"close":true}"#, .close), (#"{"no_ping":true}"#, .blackHole),
    (#"{"goaway_two_step":true}"#, .twoStepGoAway), (#"{"half_body":true}"#, .halfBody),
    (#"{"max_streams":0}"#, .maximumStreams(0)), (#"{"no_settings":true}"#, .noSettings),
    (#"{"reset":"REFUSED_STREAM"}"#, .reset(.refusedStream)),
    (#"{"goaway":{}}"#, .goAway(.this, reason: "Shutdown")),
    (#"{"goaway":{"last_stream":"previous","reason":"x"}}"#, .goAway(.previous, reason: "x")),
    (#"{"goaway":{"last_stream":3}}"#, .goAway(.number(3), reason: "Shutdown")),
    (
      #"{"answer":{"status":500,"body":"b"}}"#,
      .answer(
        FaultAnswer(status: 500, reason: nil, timestamp: nil, retryAfterSeconds: nil, body: "b"))
    ),
  ])
  func `each action is parsed`(text: String, action: FaultAction) throws {
    let faults = try FaultReader.pushes.read(text: Array(#"{"faults":[{"action":\#(text)}]}"#.utf8))
    #expect(faults.map(\.action) == [action])
  }

  @Test(arguments: [
    ("", "found no JSON at byte 0, expected a JSON value"),
    ("{}", "found {}, expected a list of faults"),
    ("[1]", "faults[0]: found 1, expected an object"),
    ("[{}]", "faults[0].action: found nothing, expected an action"),
    (#"[{"action":{}}]"#, "faults[0].action: found {}, expected an action"),
    (
      #"[{"action":{"stall":true,"close":true}}]"#,
      "faults[0].action: found close and stall, expected one action"
    ),
    (#"[{"action":{"stall":1}}]"#, "faults[0].action.stall: found 1, expected true"),
    (
      #"[{"action":{"answer":{"status":500,"accepted":true}}}]"#,
      #"faults[0].action.answer: found key "accepted", expected one of body, reason, retry_after, "#
        + "status, timestamp"
    ),
    (
      #"[{"action":{"answer":{"status":"500"}}}]"#,
      #"faults[0].action.answer.status: found "500", expected an integer from 200 to 599"#
    ),
    (
      #"[{"action":{"stall":true},"times":0}]"#,
      "faults[0].times: found 0, expected an integer from 1"
    ),
    (
      #"[{"action":{"stall":true},"match":{"every":0}}]"#,
      "faults[0].match.every: found 0, expected an integer from 1"
    ),
    (
      #"[{"action":{"no_settings":true},"match":{"token":"ab"}}]"#,
      "faults[0]: found no_settings next to what a request has, "
        + "expected connection, every and first: the fault strikes before any request"
    ),
    (
      #"[{"action":{"no_settings":true,"delay_ms":5}}]"#,
      "faults[0]: found no_settings next to what a request has, "
        + "expected connection, every and first: the fault strikes before any request"
    ),
    (
      #"[{"action":{"goaway":{"last_stream":"next"}}}]"#,
      #"faults[0].action.goaway.last_stream: found "next", expected "this", "previous" or a "#
        + "stream number"
    ),
  ])
  func `an error contains path, found and expected`(text: String, message: String) {
    #expect {
      try FaultReader.pushes.read(text: Array(text.utf8))
    } throws: { error in
      "\(error)" == message
    }
  }
}

@Suite struct FaultSetTests {
  private static let subject = FaultSubject(
    connection: 2, values: ["token": "abcd", "topic": "com.a", "call": "push"])

  private func faults(_ text: String) throws -> FaultSet {
    FaultSet(try FaultReader.pushes.read(text: Array(text.utf8)))
  }

  @Test(arguments: [
    ("{}", true), (#"{"token":"ABCD"}"#, true), (#"{"token":"abc"}"#, false),
    (#"{"token_prefix":"AB"}"#, true), (#"{"token_prefix":"b"}"#, false),
    (#"{"topic":"com.a"}"#, true), (#"{"topic":"com.b"}"#, false),
    (#"{"connection":2}"#, true), (#"{"connection":1}"#, false),
    (#"{"token":"abcd","connection":1}"#, false),
  ])
  func `a fault strikes what it matches`(match: String, strikes: Bool) throws {
    var set = try faults(#"[{"match":\#(match),"action":{"stall":true}}]"#)
    #expect((set.strike(Self.subject) != nil) == strikes)
  }

  @Test(arguments: [
    (#""match":{"every":3}"#, [2, 5]), (#""match":{"first":2}"#, [0, 1]),
    (#""times":1"#, [0]), (#""match":{"every":2},"times":1"#, [1]),
    (#""match":{}"#, [0, 1, 2, 3, 4, 5]),
  ])
  func `a fault strikes as often as defined`(members: String, struck: [Int]) throws {
    var set = try faults(#"[{\#(members),"action":{"stall":true}}]"#)
    #expect((0..<6).filter { _ in set.strike(Self.subject) != nil } == struck)
  }

  @Test func `connections and requests are counted apart`() throws {
    var set = try faults(
      #"[{"match":{"every":2},"action":{"no_settings":true}},{"action":{"stall":true}}]"#)
    let connection = FaultSubject(connection: 2, values: nil)
    let struck = (0..<4).map { _ in
      (set.strike(connection)?.action, set.strike(Self.subject)?.action)
    }
    #expect(struck.map(\.0) == [nil, .noSettings, nil, .noSettings])
    #expect(struck.allSatisfy { $0.1 == .stall })
  }

  @Test func `the first fault that is due strikes alone`() throws {
    var set = try faults(
      #"[{"action":{"close":true},"times":1},{"action":{"stall":true},"times":1}]"#)
    #expect((0..<3).map { _ in set.strike(Self.subject)?.action } == [.close, .stall, nil])
  }
}
