import Base
import Dispatch
import Foundation
import Orchestrator
import RideCore
import SystemSupport

/// Ends the process if a decision does not return: the supervisor starts it again, and the ride is
/// decided apart from others and then parked.
final class DecisionWatchdog: Sendable {
  private let watch: DecisionWatch
  private let log: Log
  /// Releases what other nodes can handle at once.
  private let release: @Sendable () async -> Void

  /// How often the watch is read.
  private static let interval: TimeInterval = 0.5
  /// How long the release may take before the process ends anyway.
  static let releaseLimit: Duration = .seconds(3)

  init(_ watch: DecisionWatch, _ log: Log, release: @escaping @Sendable () async -> Void) {
    self.watch = watch
    self.log = log
    self.release = release
  }

  /// Watches until the process ends.
  func start() {
    WorkerThread(named: "decision watch") { [self] in
      var deadline = DecisionDeadline()
      while true {
        Thread.sleep(forTimeInterval: Self.interval)
        let uptime = Duration.nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds))
        guard let cpuTime = ProcessTime.cpu(),
          let turn = deadline.observe(watch.turn, cpuTime: cpuTime, uptime: uptime),
          watch.abandon(turn)
        else { continue }
        end(because: turn.ride)
      }
    }?.detach()
  }

  private func end(because ride: RideID) {
    log(.error, .decisionEndless, ["ride": ride.text, "cpu_time": DecisionDeadline.limit])
    let isReleased = DispatchSemaphore(value: 0)
    Task { [release] in
      await release()
      isReleased.signal()
    }
    _ = isReleased.wait(timeout: .now() + .seconds(Int(Self.releaseLimit.components.seconds) + 1))
    exit(ExitStatus.failed.rawValue)
  }
}
