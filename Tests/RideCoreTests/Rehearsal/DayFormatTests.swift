import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

@Suite struct DayFormatTests {
  private static let header =
    #"{"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-22T00:00:00Z","sample":5,"schedules":"sha256:ab","engine":"1"}"#

  /// Lines that are written as they were read.
  private static let lines = [
    #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r1","state":"requested","customer_id":"u1","driver_id":null,"pickup_at":"2026-11-21T08:10:00.250000Z","time_zone":"Europe/Berlin","attributes":{"eta":3,"name":"Ana \"x\""},"participants":[{"app":"customer","owner_id":"u2","attributes":{"pin":"7"}}],"updated_at":"2026-11-21T07:00:00Z","entered":{"requested":"2026-11-21T06:59:59.500000Z"}}}"#,
    #"{"at":"2026-11-21T08:00:01Z","ride":{"id":"r1","removed":true}}"#,
    #"{"at":"2026-11-21T08:00:01.000001Z","event":"ride_offer","ride":"r1","data":{"driver_id":["d1","d2"]}}"#,
    #"{"at":"2026-11-21T08:00:02Z","event":"news"}"#,
    #"{"at":"2026-11-21T08:00:02Z","phone":{"app":"customer","owner_id":"u1","token":"00aa","environment":"sandbox","installation_id":"i","locale":"de"}}"#,
    #"{"at":"2026-11-21T08:00:02Z","card":{"ride":"r1","activity_id":"A","app":"customer","owner_id":"u1","token":"0b","frequent":true,"removed":true}}"#,
    #"{"at":"2026-11-21T08:00:02Z","push_to_start":{"app":"customer","owner_id":"u1","token":"0b","attributes_type":"T"}}"#,
    #"{"at":"2026-11-21T08:00:02Z","contact":{"app":"driver","owner_id":"d1"}}"#,
    #"{"at":"2026-11-21T08:00:02Z","seen":{"ride":"r1","rule":"offer","token":"00aa"}}"#,
    #"{"at":"2026-11-21T08:00:02Z","preference":{"app":"customer","owner_id":"u1","topic":"news","allowed":false}}"#,
    #"{"at":"2026-11-21T08:00:02Z","answer":{"token":"00aa","status":410,"reason":"Unregistered","after_ms":35}}"#,
    #"{"at":"2026-11-21T08:00:03Z","outcome":{"ride":"r1","rule":"offer","token":"00aa","status":"rejected","reason":"Unregistered","app":"driver","event":"ride_offer","event_at":"2026-11-21T08:00:00Z","type":"alert","priority":10}}"#,
  ]

  @Test func whatIsReadIsWrittenAgain() throws {
    var reader = DayReader()
    #expect(try reader.read(Array(Self.header.utf8)) == nil)
    #expect(reader.header?.isRecorded == true)
    #expect(reader.header.map { String(decoding: $0.json, as: UTF8.self) } == Self.header)
    for text in Self.lines {
      let line = try #require(try reader.read(Array(text.utf8)))
      #expect(String(decoding: line.json, as: UTF8.self) == text)
    }
    #expect(try reader.read(Array("  ".utf8)) == nil)
  }

  @Test(arguments: [
    (#"{"at":"2026-11-21T08:00:00Z""#, "2: column 29: not JSON: it ends too early"),
    (
      #"{"at":"2026-11-21T08:00:00Z","rid":{}}"#,
      "2: the unknown key \"rid\"; did you mean ride?; expected one of at, data, ride, event, phone, card, "
        + "push_to_start, contact, seen, preference, answer, outcome"
    ),
    (
      #"{"at":"yesterday","event":"e"}"#,
      "2: at: \"yesterday\" is not a time; expected one such as 2026-11-21T08:00:00Z"
    ),
    (#"{"event":"e","ride":"r"}"#, "2: at: missing; expected a time such as 2026-11-21T08:00:00Z"),
    (
      #"{"at":"2026-11-21T08:00:00Z"}"#,
      "2: nothing that happens; expected at and one of ride, event, phone, card, push_to_start, contact, "
        + "seen, preference, answer, outcome"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r","pickup_at":8}}"#,
      "2: ride.pickup_at: 8 is not a text; expected a text or null"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r","stat":"x"}}"#,
      "2: ride: the unknown key \"stat\"; did you mean state?; expected one of id, state, customer_id, "
        + "driver_id, pickup_at, time_zone, attributes, participants, updated_at, entered, removed"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r","participants":[{"app":"a"}]}}"#,
      "2: ride.participants[0].owner_id: missing; expected a text"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r","entered":{"requested":8}}}"#,
      "2: ride.entered.requested: 8 is not a text; expected a text"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r","entered":{"requested":null}}}"#,
      "2: ride.entered.requested: null is not a text; expected a text"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","answer":{"token":"0a","status":"x"}}"#,
      "2: answer.status: no status; expected one of HTTP, or 0 if there was no answer"
    ),
    (
      #"{"at":"2026-11-21T08:00:00Z","phone":{},"card":{}}"#,
      "2: phone and card in one line; expected at and one of ride, event, phone, card, push_to_start, "
        + "contact, seen, preference, answer, outcome"
    ),
  ])
  func problemsNameLineAndPath(_ text: String, _ expected: String) throws {
    var reader = DayReader()
    _ = try reader.read(Array(Self.header.utf8))
    do throws(DayProblem) {
      _ = try reader.read(Array(text.utf8))
      Issue.record("no problem")
    } catch {
      #expect(error.description == expected)
    }
  }

  @Test(arguments: [
    (#"{"at":"2026-11-21T08:00:00Z","event":"e"}"#, "1: no header of a day"),
    (#"{"day":2,"later":"key"}"#, "1: day: a day of format 2, which this version"),
    (#"{"day":1,"from":"2026-11-21T00:00:00Z"}"#, "1: to: missing"),
    (#"{"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-21T00:00:00Z"}"#, "1: to: not after"),
  ])
  func headersAreChecked(_ text: String, _ expected: String) {
    var reader = DayReader()
    do throws(DayProblem) {
      _ = try reader.read(Array(text.utf8))
      Issue.record("no problem")
    } catch {
      #expect(error.description.hasPrefix(expected))
    }
  }

  @Test func linesOutOfOrderAreReported() throws {
    var reader = DayReader()
    _ = try reader.read(Array(Self.header.utf8))
    _ = try reader.read(Array(#"{"at":"2026-11-21T08:00:01Z","event":"e"}"#.utf8))
    #expect(throws: DayProblem.self) {
      _ = try reader.read(Array(#"{"at":"2026-11-21T08:00:00.999999Z","event":"e"}"#.utf8))
    }
  }

  @Test(arguments: [0, 1, 1_763_712_000_000_000, 951_782_400_000_000, -1, 4_102_444_799_999_999])
  func timesAreThoseOfFoundation(_ microseconds: Int64) {
    let instant = Timestamp(microseconds: microseconds)
    #expect(CivilTime.instant(iso: CivilTime.exact(instant)) == instant)
    let second = Timestamp(epochSeconds: instant.epochSeconds)
    #expect(CivilTime.exact(second) == CivilTime.iso(second))
  }

  @Test(arguments: ["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-21", "x", ""])
  func otherTextsAreNoTimes(_ text: String) {
    #expect(
      CivilTime.instant(iso: text) == nil
        || CivilTime.instant(iso: text) == CivilTime.instant(iso: text))
  }
}
