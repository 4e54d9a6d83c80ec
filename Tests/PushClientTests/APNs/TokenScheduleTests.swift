import Base
import RideCore
import Testing

@testable import PushClient

@Suite struct TokenScheduleTests {
  /// The start of a window: 1,700,000,000 floored to half an hour.
  static let start: Int64 = 1_699_999_200

  static func at(_ seconds: Int64) -> Timestamp { Timestamp(epochSeconds: start + seconds) }

  @Test(
    "iat is floored to half hours, so that all nodes sign the same",
    arguments: [
      (0, 0), (1, 0), (1799, 0), (1800, 1800), (3599, 1800), (-1, -1800),
    ] as [(Int64, Int64)])
  func windows(now: Int64, issuedAt: Int64) {
    #expect(TokenSchedule().issuedAt(at: Self.at(now)) == Self.start + issuedAt)
  }

  @Test("A time before 1970 is floored too")
  func beforeTheEpoch() {
    #expect(TokenSchedule().issuedAt(at: Timestamp(epochSeconds: -1)) == -1800)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var now: Int64
    var usedMinutes: Int
    var verdict: TokenSchedule.TokenAction
  }

  /// The connection's token was issued at second 0.
  static let rows = [
    Row(testDescription: "same window", now: 1799, usedMinutes: 29, verdict: .keep),
    Row(testDescription: "next window, used 19 min", now: 1800, usedMinutes: 19, verdict: .keep),
    Row(testDescription: "next window, used 20 min", now: 1800, usedMinutes: 20, verdict: .adopt),
    Row(testDescription: "55 min old, used 19 min", now: 3300, usedMinutes: 19, verdict: .keep),
    Row(testDescription: "older than 55 min", now: 3301, usedMinutes: 30, verdict: .adopt),
    Row(
      testDescription: "the clock ran ahead: too old, too short in use", now: 3301,
      usedMinutes: 5, verdict: .recycle),
    Row(
      testDescription: "the clock was set back a minute", now: -60, usedMinutes: 5,
      verdict: .keep),
    Row(
      testDescription: "the clock was set back far, short in use", now: -61, usedMinutes: 5,
      verdict: .recycle),
    Row(
      testDescription: "the clock was set back far, long in use", now: -3600, usedMinutes: 25,
      verdict: .adopt),
    Row(
      testDescription: "the clock was set back into the last window", now: -30,
      usedMinutes: 40, verdict: .keep),
  ]

  @Test("R6: a connection's token turns over between 20 and 55 minutes", arguments: rows)
  func verdict(row: Row) {
    let verdict = TokenSchedule().verdict(
      issuedAt: Self.start, usedFor: .seconds(row.usedMinutes * 60), at: Self.at(row.now))
    #expect(verdict == row.verdict)
  }

  @Test(
    "R6: whenever a connection opens, it never sees two tokens within 20 minutes, nor an old one")
  func everyOpening() {
    let schedule = TokenSchedule()
    for opened in stride(from: Int64(0), to: 1800, by: 60) {
      var token = schedule.issuedAt(at: Self.at(opened))
      var since = opened
      for now in stride(from: opened, to: opened + 4 * 3600, by: 30) {
        let verdict = schedule.verdict(
          issuedAt: token, usedFor: .seconds(now - since), at: Self.at(now))
        #expect(verdict != .recycle)
        guard verdict == .adopt else { continue }
        #expect(now - since >= 1200)
        token = schedule.issuedAt(at: Self.at(now))
        since = now
        #expect(Self.start + now - token < 3300)
      }
    }
  }

  @Test("R8: an expired token is replaced once a window, by one of that second")
  func expired() {
    var schedule = TokenSchedule()
    schedule.expired(issuedAt: Self.start, at: Self.at(100))
    #expect(schedule.issuedAt(at: Self.at(101)) == Self.start + 100)
    schedule.expired(issuedAt: Self.start, at: Self.at(200))
    schedule.expired(issuedAt: Self.start + 100, at: Self.at(300))
    #expect(schedule.issuedAt(at: Self.at(301)) == Self.start + 100)
    #expect(schedule.issuedAt(at: Self.at(1800)) == Self.start + 1800, "the next window is its own")
  }

  @Test(
    "R8: what replaces an expired token is later, and stays, in any second of the window",
    arguments: [(Int64(0), Int64(1)), (1, 1), (2, 2), (1199, 1199), (1799, 1799)])
  func expiredEarly(reported: Int64, issuedAt: Int64) {
    var schedule = TokenSchedule()
    schedule.expired(issuedAt: Self.start, at: Self.at(reported))
    for now in [reported, reported + 1, 1799] where now >= reported && now < 1800 {
      #expect(schedule.issuedAt(at: Self.at(now)) == Self.start + issuedAt)
    }
    // Another report in the same second, of either token, replaces nothing.
    schedule.expired(issuedAt: Self.start, at: Self.at(reported))
    schedule.expired(issuedAt: Self.start + issuedAt, at: Self.at(reported))
    #expect(schedule.issuedAt(at: Self.at(reported)) == Self.start + issuedAt)
    // A connection that opens with it keeps it for 20 minutes, also across the window's end.
    for used in stride(from: Int64(0), to: 1200, by: 60) {
      let verdict = schedule.verdict(
        issuedAt: Self.start + issuedAt, usedFor: .seconds(used), at: Self.at(reported + used))
      #expect(verdict == .keep)
    }
  }

  @Test("R8: an old window's token that has expired replaces nothing")
  func expiredOfOldWindow() {
    var schedule = TokenSchedule()
    schedule.expired(issuedAt: Self.start - 1800, at: Self.at(100))
    #expect(schedule.issuedAt(at: Self.at(101)) == Self.start)
  }
}
