package import RideCore
import Synchronization

/// The rides, events, phones, agenda and ledger in Postgres.
///
/// One session claims and reads, another settles, so that neither waits for the other, and a third
/// may listen. A claim is two round trips and a settlement one, for any number of rides.
package final class PostgresRideStore: RideStore {
  let node: String
  let host: String
  private let apps: [App]
  let reading: Mutex<RideReading>
  let lowWaterMark = Mutex(LowWaterMark())
  private let start = ContinuousClock.now
  let lease: Duration
  let claims: PostgresSession
  let settlements: PostgresSession
  let listener: WakeListener?
  let sweeping: (@Sendable () throws -> PostgresSession)?
  let onLate: @Sendable () -> Void
  let log: Log
  /// When the last call must have ended; nil while the node works.
  private let end = Mutex<Duration?>(nil)
  private let adoption = Mutex(Adoption())

  /// How far live rides have been made due.
  private struct Adoption {
    var digest: String?
    /// The last ride of the last page; nil after the end.
    var last: String? = ""
    /// How many rides a page has: fewer after one that ran out of time.
    var size = 5000
    /// Rides that other sessions had locked.
    var locked: [String] = []
    var count = 0
  }

  /// A store over open sessions, which it does not close.
  ///
  /// - Parameters:
  ///   - node: A UUID that no other process uses, ever: leases are held under it.
  ///   - host: What people call the machine that this process runs on.
  ///   - apps: The apps whose phones rules may speak to.
  ///   - rules: What decisions go by.
  ///   - lease: How long a claimed ride is this node's own.
  ///   - listener: What wakes the node where it sleeps; without it producers are told that the node
  ///     never does.
  ///   - sweeping: Opens a session for a look that takes too long for a claim; it is closed again.
  ///     Without it the claims' own takes the time.
  ///   - onLate: Called when such a look has found something to claim; must not block.
  package init(
    node: String, host: String, apps: [App], rules: RuleSet, lease: Duration,
    claims: PostgresSession, settlements: PostgresSession, listener: WakeListener? = nil,
    sweeping: (@Sendable () throws -> PostgresSession)? = nil,
    onLate: @escaping @Sendable () -> Void = {}, log: Log
  ) {
    self.node = node
    self.host = host
    self.apps = apps
    reading = Mutex(RideReading(apps: apps, rules: rules))
    self.lease = lease
    self.claims = claims
    self.settlements = settlements
    self.listener = listener
    self.sweeping = sweeping
    self.onLate = onLate
    self.log = log
  }

  /// Time since this store was made.
  var uptime: Duration { ContinuousClock.now - start }

  /// Ends every call by then.
  package func endCalls(within limit: Duration) {
    end.withLock { [uptime] end in end = min(end ?? .seconds(Int64.max >> 1), uptime + limit) }
  }

  /// Runs calls in one transaction, within what time there is.
  ///
  /// - Throws: `StoreFailure`.
  func run(
    _ session: PostgresSession, _ calls: [Call], timeout: Duration = .seconds(10)
  ) async throws -> [QueryResult] {
    let left = end.withLock { $0 }.map { $0 - uptime } ?? timeout
    guard left > .zero else { throw Self.isStopping }
    do {
      return try await session.run(calls, timeout: min(timeout, left))
    } catch {
      throw error.failure
    }
  }

  private static let isStopping = StoreFailure(.unavailable, "the node is stopping")

  /// Makes every live ride due, once, where rules that speak by the clock have changed.
  ///
  /// - Throws: `StoreFailure`; the same rules may be given again. After a `conflict` only the rides
  ///   that were locked are tried again.
  package func adopt(_ rules: RuleSet) async throws -> Int {
    reading.withLock { $0 = RideReading(apps: apps, rules: rules) }
    let digest = rules.timingDigest
    let known = try await run(settlements, [Call(TimingStatements.known)])
    if known[0].string(0, 0) ?? "" == digest { return 0 }
    let active = PostgresArray.literal(rules.activeStates.sorted())
    var adoption = self.adoption.withLock { $0 }
    if adoption.digest != digest { adoption = Adoption(digest: digest) }
    defer { self.adoption.withLock { [adoption] in $0 = adoption } }
    while let from = adoption.last {
      // A stop waits for one page at most.
      if end.withLock({ $0 }) != nil { throw Self.isStopping }
      do {
        adoption.last = try await adopt(
          Call(TimingStatements.adopt, [from, active, String(adoption.size)]), &adoption)
      } catch let failure as StoreFailure where failure.cause == .timeout && adoption.size > 1 {
        adoption.size /= 2
      }
    }
    if !adoption.locked.isEmpty {
      let rides = PostgresArray.literal(adoption.locked)
      _ = try await adopt(
        Call(TimingStatements.adoptRides, [rides, active]), &adoption, instead: true)
    }
    if !adoption.locked.isEmpty {
      throw StoreFailure(
        .conflict, "other sessions have locked the agenda rows of \(adoption.locked.count) rides")
    }
    _ = try await run(settlements, [Call(TimingStatements.remember, [digest])])
    defer { adoption = Adoption() }
    return adoption.count
  }

  /// - Returns: The page's last ride.
  private func adopt(
    _ page: Call, _ adoption: inout Adoption, instead: Bool = false
  ) async throws -> String? {
    let rows = try await run(settlements, [Call(SettleStatements.sets), page])[1]
    adoption.count += Int(rows.int64(0, 1) ?? 0)
    if instead { adoption.locked = [] }
    adoption.locked += (1..<max(1, rows.rowCount)).compactMap { rows.string($0, 2) }
    return rows.string(0, 0)
  }

  /// Says that this node looks no more.
  package func leave() async throws {
    _ = try await settlements.run([Call(SettleStatements.leave, [node])], timeout: .seconds(1))
  }
}
