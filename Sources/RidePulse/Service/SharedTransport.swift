import Base
import Orchestrator
import PushClient
import RideCore
import Synchronization

/// The connections to APNs and FCM of a process, which its cells share.
final class SharedTransport: Sendable {
  /// The cells that share the connections.
  private final class Members: Sendable {
    private let state = Mutex<(clocks: [DatabaseClock], signals: [EngineSignal])>(([], []))

    /// Adds a cell; returns its number.
    func add(_ clock: DatabaseClock, _ signal: EngineSignal) -> Int {
      state.withLock { state in
        state.clocks.append(clock)
        state.signals.append(signal)
        return state.clocks.count - 1
      }
    }

    /// The time of the first database that has answered; this machine's before that.
    var now: Timestamp {
      let clocks = state.withLock { $0.clocks }
      return (clocks.first { $0.isKnown } ?? clocks.first)?.now ?? MachineTime.now
    }

    func connectionsChanged() {
      for signal in state.withLock({ $0.signals }) { signal.connectionsChanged() }
    }
  }

  let pushes: PushClient
  private let members: Members
  /// The number of engines that run, and a signal for each that waits for the end of all.
  private let engines = Mutex<(running: Int, waiting: [AsyncSignal])>((0, []))

  init(_ apns: APNsVariables, log: Log) throws {
    let members = Members()
    self.members = members
    let transportLog = TransportLog(log)
    pushes = try PushClient(
      configuration: apns.configuration, credentials: apns.loadCredentials(),
      now: { members.now },
      events: {
        transportLog.record($0)
        members.connectionsChanged()
      })
  }

  /// Adds a cell; returns the number by which its pushes take turns with those of other cells.
  func add(_ clock: DatabaseClock, _ signal: EngineSignal) -> Int { members.add(clock, signal) }

  /// The keys and certificates in use.
  var credentials: Credentials { pushes.credentialsInUse }

  /// Keeps the connections open until this engine has ended, too.
  func enter() { engines.withLock { $0.running += 1 } }

  /// Closes the connections once all engines have called this, or the limit has passed: what the
  /// other engines claimed last is still sent.
  func close(within limit: Duration) async {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    let allEnded = AsyncSignal()
    let ready = engines.withLock { engines -> [AsyncSignal] in
      engines.running -= 1
      engines.waiting.append(allEnded)
      if engines.running > 0 { return [] }
      defer { engines.waiting = [] }
      return engines.waiting
    }
    for signal in ready { signal.notify() }
    await allEnded.wait(atMost: limit, on: clock)
    await pushes.close(within: max(.zero, deadline - .now))
  }
}
