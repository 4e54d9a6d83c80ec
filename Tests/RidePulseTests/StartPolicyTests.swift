import PostgresStore
import Testing

@testable import RidePulse

@Suite("The start's decisions") struct StartPolicyTests {
  private static func server(_ state: String) -> PostgresError {
    PostgresError(.server(ServerError(sqlState: state, message: "m")))
  }

  private static let refused = PostgresError(.unreachable(reason: "refused"))

  @Test(arguments: [
    (refused, true), (server("57P03"), true), (server("53300"), true), (server("25006"), true),
    (PostgresError(.timeout(sent: true)), true), (server("55P03"), true),
    (PostgresError(.unreachable(reason: "wrong password", isFinal: true)), false),
    (PostgresError(.invalidConninfo(reason: "x")), false), (server("42501"), false),
    (server("42P01"), false), (server("3D000"), false),
  ])
  func `R112: it waits for what may pass, and for nothing else`(
    failure: PostgresError, waits: Bool
  ) {
    var policy = StartPolicy(limit: nil)
    switch policy.next(after: StartObstacle(failure), elapsed: .seconds(86_400), random: 0.5) {
    case .wait: #expect(waits)
    case .fail(let message):
      #expect(!waits)
      #expect(message.contains("\(failure)"))
    }
  }

  @Test func `R112: a reason is new only once`() {
    var policy = StartPolicy(limit: .seconds(5))
    var news: [Bool?] = []
    for (failure, second) in [
      (Self.refused, 0), (Self.refused, 1), (Self.server("57P03"), 2), (Self.refused, 3),
      (Self.refused, 5),
    ] {
      switch policy.next(after: StartObstacle(failure), elapsed: .seconds(second), random: 0.5) {
      case .wait(_, let isNew, let pause):
        #expect(pause > .zero && pause <= .seconds(2))
        news.append(isNew)
      case .fail: news.append(nil)
      }
    }
    #expect(news == [true, false, true, true, nil])
  }

  @Test func `It waits for migrations, by their names, and not beyond the limit`() {
    let lack = MissingMigrations(names: ["0001_rides", "0002_events"])
    let text = "the database lacks 0001_rides, 0002_events; run: ridepulse migrate"
    guard let obstacle = StartObstacle(lack) else {
      Issue.record("a missing schema ends the start")
      return
    }
    #expect(obstacle.awaited == .schema)
    var policy = StartPolicy(limit: .seconds(5))
    guard
      case .wait(text, true, _) = policy.next(after: obstacle, elapsed: .seconds(4), random: 0.5),
      case .fail(text) = policy.next(after: obstacle, elapsed: .seconds(5), random: 0.5)
    else {
      Issue.record("it neither waits 5 s nor ends then")
      return
    }
    #expect(StartObstacle(CommandFailure("of no database"))?.reason == nil)
  }
}
