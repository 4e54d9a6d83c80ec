import Base
import Orchestrator
import RideCore
import Synchronization

/// Starts the cells of a process and runs each until the process stops: none waits for another.
final class CellStarts: Sendable {
  private let services: Services
  private let supervision: Supervision
  /// Logs that a cell claims.
  private let onServing: @Sendable (Service) -> Void
  private let isReady = Mutex(false)

  /// How long a cell waits that can't start as it is configured, as with a wrong password.
  private static let pause: Duration = .seconds(15)

  init(
    _ services: Services, _ supervision: Supervision,
    onServing: @escaping @Sendable (Service) -> Void
  ) {
    (self.services, self.supervision, self.onServing) = (services, supervision, onServing)
  }

  func run() async {
    await services.supervised(by: supervision) {
      await services.all.concurrentMap { await self.serve($0) }
    }
  }

  private func serve(_ service: Service) async {
    guard await start(service) else { return }
    // A cell that waits is for /readyz to report; the manager must not end the others.
    let isFirst = isReady.withLock { isReady in
      defer { isReady = true }
      return !isReady
    }
    if isFirst { supervision.ready() }
    onServing(service)
    await Superuser.warn(service.pool, service.log)
    services.shared.enter()
    await service.run()
  }

  /// Starts a cell, again and again; returns false once the process stops.
  private func start(_ service: Service) async -> Bool {
    while !service.engine.isStopped {
      do {
        return try await service.start(onWait: { self.supervision.waiting(service.cell.line($0)) })
      } catch {
        service.starting.failed("\(error)")
        service.log(.error, .cellNotStarted, ["error": "\(error)", "next": Self.pause])
        await service.starting.wait(Self.pause)
      }
    }
    return false
  }
}
