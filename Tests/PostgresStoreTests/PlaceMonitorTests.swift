import RideCore
import Testing

@testable import PostgresStore

@Suite("The place of claims") struct PlaceMonitorTests {
  private static func report(
    _ timeline: Int64 = 1, system: Int64 = 7, mayClaim: Bool = true, isPinned: Bool = true
  ) -> PlaceMonitor.Report {
    PlaceMonitor.Report(
      place: ServerPlace(systemIdentifier: system, timeline: timeline), mayClaim: mayClaim,
      isPinned: isPinned)
  }

  private static let first = report().place
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
    ] as [([PlaceMonitor.Report], [[PlaceMonitor.Action]], Int)])
  func `R107: a new timeline or server voids numbers, a wrong pin is checked`(
    reports: [PlaceMonitor.Report], actions: [[PlaceMonitor.Action]], moves: Int
  ) {
    var monitor = PlaceMonitor()
    let taken = reports.map { monitor.handle($0) }
    #expect(taken == actions)
    #expect(monitor.moves == moves)
  }

  @Test func `R111: a problem is reported once, and checked until it is gone`() {
    var monitor = PlaceMonitor()
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
