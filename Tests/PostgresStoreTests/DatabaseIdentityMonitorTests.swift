import RideCore
import Testing

@testable import PostgresStore

@Suite("The database of claims") struct DatabaseIdentityMonitorTests {
  private static func report(
    _ timeline: Int64 = 1, system: Int64 = 7, mayClaim: Bool = true, isPinned: Bool = true
  ) -> DatabaseIdentityMonitor.Report {
    DatabaseIdentityMonitor.Report(
      identity: DatabaseIdentity(systemIdentifier: system, timeline: timeline),
      mayClaim: mayClaim, isPinned: isPinned)
  }

  private static let first = report().identity
  private static let problem = PinProblem(kind: .server, pinned: "1", found: "2")

  @Test(
    arguments: [
      ([report(), report()], [[], []], 0),
      ([report(), report(2)], [[], [.forgetNumbers(from: first)]], 1),
      ([report(), report(1, system: 8)], [[], [.forgetNumbers(from: first)]], 1),
      ([report(isPinned: false), report()], [[.checkPin], []], 0),
      ([report(mayClaim: false), report(mayClaim: false)], [[.checkPin], [.checkPin]], 0),
      (
        [report(), report(1, system: 8, mayClaim: false)],
        [[], [.forgetNumbers(from: first), .checkPin]], 1
      ),
    ] as [([DatabaseIdentityMonitor.Report], [[DatabaseIdentityMonitor.Action]], Int)])
  func `R107: a new timeline or server voids numbers, a wrong pin is checked`(
    reports: [DatabaseIdentityMonitor.Report], actions: [[DatabaseIdentityMonitor.Action]],
    moves: Int
  ) {
    var monitor = DatabaseIdentityMonitor()
    let taken = reports.map { monitor.handle($0) }
    #expect(taken == actions)
    #expect(monitor.moves == moves)
  }

  @Test func `R111: a problem is reported once, and checked until it is gone`() {
    var monitor = DatabaseIdentityMonitor()
    let taken = [
      monitor.handle(Self.report(mayClaim: false)), monitor.handle(Self.report(mayClaim: false)),
    ]
    #expect(taken == [[.checkPin], [.checkPin]])
    let first = monitor.checked([Self.problem])
    let second = monitor.checked([Self.problem])
    #expect(first && !second)
    // The claim after ridepulse.pin().
    let pinned = monitor.handle(Self.report(isPinned: false))
    let isNews = monitor.checked([])
    let last = monitor.handle(Self.report())
    #expect(pinned == [.checkPin] && isNews && last == [])
  }
}
