import Testing

@testable import Orchestrator

@Suite struct RestDetectorTests {
  /// Claims as (milliseconds, rides, held), and the times at which the engine came to rest.
  private static let cases: [(String, [(Int64, Int, Int)], [Int64])] = [
    ("the first rest after the start", [(0, 0, 0), (999, 0, 0), (1000, 0, 0)], [1000]),
    ("once", [(0, 0, 0), (1000, 0, 0), (2000, 0, 0), (9000, 0, 0)], [1000]),
    ("a ride in between", [(0, 0, 0), (900, 1, 1), (1000, 0, 0), (1900, 0, 0)], []),
    ("a ride in flight is work", [(0, 0, 1), (1000, 0, 1), (5000, 0, 0), (5999, 0, 0)], []),
    (
      "again after a thousand rides",
      [(0, 0, 0), (1000, 0, 0), (2000, 500, 9), (2001, 500, 9), (3000, 0, 0), (4000, 0, 0)],
      [1000, 4000]
    ),
    (
      "not after 999",
      [(0, 0, 0), (1000, 0, 0), (2000, 999, 9), (3000, 0, 0), (4000, 0, 0), (9000, 0, 0)], [1000]
    ),
    (
      "never under load",
      [(0, 500, 500), (1000, 500, 0), (2000, 500, 0), (3000, 1, 0), (4000, 500, 0)], []
    ),
  ]

  @Test(arguments: cases)
  func `an engine comes to rest`(name: String, claims: [(Int64, Int, Int)], rests: [Int64]) {
    var detector = RestDetector()
    let found = claims.filter { at, rides, held in
      detector.claimed(rides, held: held, at: .milliseconds(at))
    }
    #expect(found.map(\.0) == rests, "\(name)")
  }
}
