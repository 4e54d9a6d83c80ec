import RideCore
import Testing

@testable import PostgresStore

@Suite("The health check of LISTEN") struct NotifyHealthCheckTests {
  private enum Step {
    /// Takes a probe at this second; the expected number, or nil if it is not time.
    case take(Int, Int?)
    case sent(Int, Int)
    case notSent(Int, Int, NotifyHealthCheck.Change?)
    case returned(Int, Int, NotifyHealthCheck.Change?)
    case timeIsUp(Int, isOverdue: Bool)
    case explained(NotifyHealthCheck.Change?)
    case connected, disconnected
    case isHealthy(Bool)
  }

  private static let start = ContinuousClock.now

  @Test(
    arguments: [
      (
        "one that comes back is health, and the next flies after the period",
        [
          .take(0, nil), .connected, .isHealthy(false), .take(0, 1), .sent(1, 0),
          .returned(1, 0, nil), .isHealthy(true), .take(4, nil), .take(5, 2), .sent(2, 5),
          .returned(2, 5, nil), .timeIsUp(2, isOverdue: false), .isHealthy(true),
        ]
      ),
      (
        "it may be back before its transaction is known to have committed",
        [
          .connected, .take(0, 1), .returned(1, 0, nil), .sent(1, 1), .isHealthy(true),
          .timeIsUp(1, isOverdue: false), .take(4, nil), .take(5, 2),
        ]
      ),
      (
        "one whose transaction failed is not missed",
        [
          .connected, .take(0, 1), .timeIsUp(1, isOverdue: false), .take(1, 2), .sent(2, 1),
          .returned(2, 1, nil), .isHealthy(true),
        ]
      ),
      (
        "one that does not come back is health lost, reported once",
        [
          .connected, .take(0, 1), .sent(1, 0), .timeIsUp(1, isOverdue: true), .isHealthy(false),
          .explained(.lost), .take(3, 2), .sent(2, 3), .timeIsUp(2, isOverdue: true),
          .explained(nil), .returned(2, 9, nil), .isHealthy(false),
        ]
      ),
      (
        "after two the next waits longer, and one that comes back is reported once",
        [
          .connected, .take(0, 1), .sent(1, 0), .timeIsUp(1, isOverdue: true), .explained(.lost),
          .take(2, 2), .sent(2, 2), .timeIsUp(2, isOverdue: true), .take(61, nil), .take(62, 3),
          .sent(3, 62), .returned(3, 62, .regained), .isHealthy(true), .take(67, 4),
          .returned(4, 67, nil),
        ]
      ),
      (
        "one on its way holds back the next",
        [.connected, .take(0, 1), .sent(1, 0), .take(100, nil)]
      ),
      (
        "a lost connection is no health, and the next one is tried at once",
        [
          .connected, .take(0, 1), .sent(1, 0), .returned(1, 0, nil), .disconnected,
          .isHealthy(false), .take(1, nil), .connected, .isHealthy(false), .take(1, 2),
          .sent(2, 1), .returned(2, 1, nil), .isHealthy(true),
        ]
      ),
      (
        "what was sent to a former connection does not count for this one",
        [
          .connected, .take(0, 1), .disconnected, .connected, .sent(1, 1),
          .timeIsUp(1, isOverdue: false), .returned(1, 1, nil), .isHealthy(false), .take(1, 2),
        ]
      ),
      (
        "what has healed meanwhile is not reported",
        [
          .connected, .take(0, 1), .sent(1, 0), .timeIsUp(1, isOverdue: true), .connected,
          .take(1, 2), .sent(2, 1), .returned(2, 1, nil), .explained(nil),
        ]
      ),
      (
        "a queue that nobody may notify is no health, reported once, and tried again after the period",
        [
          .connected, .take(0, 1), .sent(1, 0), .returned(1, 0, nil), .isHealthy(true),
          .take(5, 2), .notSent(2, 5, .queueFull), .isHealthy(false),
          .timeIsUp(2, isOverdue: false), .take(9, nil), .take(10, 3), .notSent(3, 10, nil),
          .take(15, 4), .sent(4, 15), .returned(4, 15, .regained), .isHealthy(true),
        ]
      ),
      (
        "LISTEN that is lost after that is reported, too",
        [
          .connected, .take(0, 1), .notSent(1, 0, .queueFull), .take(5, 2), .sent(2, 5),
          .timeIsUp(2, isOverdue: true), .explained(.lost), .explained(nil), .take(6, 3),
          .notSent(3, 6, .queueFull), .notSent(3, 6, nil),
        ]
      ),
    ] as [(String, [Step])])
  private func `R34, R35: health is what came back`(rule: String, steps: [Step]) {
    var healthCheck = NotifyHealthCheck()
    func moment(_ second: Int) -> NotifyHealthCheck.Instant { Self.start + .seconds(second) }
    for (index, step) in steps.enumerated() {
      let comment: Comment = "\(rule): step \(index)"
      switch step {
      case .take(let second, let number):
        #expect(healthCheck.take(now: moment(second)) == number, comment)
      case .sent(let number, let second): healthCheck.sent(number, now: moment(second))
      case .notSent(let number, let second, let news):
        #expect(healthCheck.notSent(number, now: moment(second)) == news, comment)
      case .returned(let number, let second, let news):
        #expect(healthCheck.returned(number, now: moment(second)) == news, comment)
      case .timeIsUp(let number, let isOverdue):
        #expect(healthCheck.isOverdue(number) == isOverdue, comment)
      case .explained(let news): #expect(healthCheck.explained() == news, comment)
      case .connected: healthCheck.connected()
      case .disconnected: healthCheck.disconnected()
      case .isHealthy(let health): #expect(healthCheck.isHealthy == health, comment)
      }
    }
  }
}
