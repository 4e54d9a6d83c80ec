import Testing

@testable import PushClient

@Suite struct BackoffTests {
  @Test("R4: waits lie between nothing and a doubling ceiling, and the seed decides them")
  func ceiling() {
    var backoff = ConnectBackoff(base: .milliseconds(500), cap: .seconds(30), seed: 42)
    var twin = ConnectBackoff(base: .milliseconds(500), cap: .seconds(30), seed: 42)
    var longest = Duration.zero
    for attempt in 0..<200 {
      let wait = backoff.failed()
      #expect(wait == twin.failed())
      #expect(wait >= .zero)
      #expect(wait <= min(.seconds(30), .milliseconds(500 << min(attempt, 20))))
      longest = max(longest, wait)
    }
    #expect(longest > .seconds(25), "the ceiling is used")
    backoff.succeeded()
    #expect(backoff.failed() <= .milliseconds(500))
  }
}
