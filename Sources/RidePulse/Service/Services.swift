import AdminServer
import Base
import Orchestrator
import PushClient
import RideCore
import RuleFiles

/// The services of a process: one, or one for each cell of a file.
final class Services: Sendable {
  /// In the file's order; never empty.
  let all: [Service]
  let shared: SharedTransport

  /// - Parameter make: Creates the service of a cell over the connections that all share.
  init(
    _ cells: [Cell], _ shared: SharedTransport,
    _ make: (Cell, SharedTransport) throws -> Service
  ) throws {
    self.shared = shared
    var all: [Service] = []
    for cell in cells {
      do {
        all.append(try make(cell, shared))
      } catch {
        if cell.name == nil { throw error }
        throw CommandFailure(cell.line("\(error)"))
      }
    }
    self.all = all
  }

  /// The only service of a process without cells; nil if there are cells.
  var only: Service? { all.count == 1 && all[0].cell.name == nil ? all[0] : nil }

  /// The rules in use, which are the same in each cell.
  var release: RuleRelease { all[0].rulesInUse.release }

  var now: Timestamp { all.first { $0.starting.isDone }?.now ?? all[0].now }

  /// Replaces the keys and certificates.
  func use(_ credentials: Credentials) {
    let old = shared.credentials
    shared.pushes.use(credentials)
    for service in all { service.credentialsReplaced(old, by: credentials) }
  }

  /// Stops claiming rides in all cells.
  func stop() { for service in all { service.stop() } }

  func close() async { await all.concurrentMap { await $0.close() } }

  func closePools() async { await all.concurrentMap { await $0.pool.close() } }

  // MARK: For the admin server and the service manager

  /// Reports to the service manager while `body` runs.
  func supervised(by supervision: Supervision, _ body: () async -> Void) async {
    let keepalive = Task {
      await supervision.keepalive(stuck: { self.stalls }, problems: { self.problems })
    }
    await body()
    keepalive.cancel()
  }

  /// What only a restart ends.
  var stalls: [String] { lines { $0.engine.stalls() } }

  /// What prevents a cell from working; each line begins with the cell.
  var problems: [String] { lines(\.problems) }

  /// What an operator must know of the rules.
  var notes: [String] { lines { $0.rulesInUse.notes } }

  private func lines(_ ofService: (Service) -> [String]) -> [String] {
    all.flatMap { service in ofService(service).map { service.cell.line($0) } }
  }

  /// Starts a scan for due rides in each cell at once; returns a line for each.
  func wake() async -> String {
    let lines = await all.concurrentMap { $0.cell.line(await $0.wake()) }
    return lines.joined(separator: "\n")
  }

  /// Returns the page of metrics, with the label `cell` if there are cells.
  func metrics() async -> String {
    let families = await all.concurrentMap { await $0.metrics() }
    if only != nil { return MetricFamily.page(families.flatMap(\.self)) }
    return ServiceMetrics.page(
      ofCells: zip(all, families).map { ($0.cell.name ?? "", $1) })
  }
}
