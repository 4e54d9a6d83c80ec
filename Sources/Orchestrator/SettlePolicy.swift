import Base
import RideCore

/// Decides how rides are handled that the store refuses to settle: repeat, check, split or park.
///
/// A state machine without a clock or I/O. Steps are taken one at a time, and each result is
/// reported before the next step. Rides that fail because of their content are found by halving and
/// parked; no ride is parked unless a check has shown that the store can settle.
struct SettlePolicy<Ride: Sendable>: Sendable {
  /// The next step of the settle loop.
  enum Step: Sendable {
    case settle([Ride])
    /// Settle a synthetic ride and roll back.
    case check
    case park(Ride, reason: String)
    case wait(until: Duration)
    /// There is nothing to settle.
    case idle
  }

  /// The failure of settlements, during which no ride may be claimed or sent.
  struct Halt: Equatable, Sendable {
    /// The engine's uptime at the first failure.
    var since: Duration
    var failure: StoreFailure
  }

  private enum Plan {
    case settle, check, park
  }

  private struct Portion {
    var rides: [Ride]
    var plan = Plan.settle
    /// How often exactly these rides have failed.
    var failures = 0
    var failure: StoreFailure?
    /// The portion comes from a batch that failed although the store could settle.
    var isSuspect = false
    /// A check has succeeded before the last failure.
    var wasChecked = false
    /// The portion waits for a lock of another session; all other portions continue.
    var isDeferred = false
    var deferrals = 0
    /// The uptime before which the portion is not tried.
    var due: Duration = .zero

    var isFailing: Bool { !isDeferred && (failures > 0 || isSuspect) }
  }

  private var portions: [Portion] = []
  /// The index of the portion of the last step.
  private var current: Int?
  /// The uptime before which nothing is tried.
  private var resumeAt: Duration = .zero
  /// The number of failures since the last success.
  private var attempts = 0
  /// The current failure; nil while settlements succeed.
  private(set) var halt: Halt?

  private let backoff: Backoff

  /// How often a single ride must time out before it may be parked: a busy server is no reason to
  /// park.
  static var timeoutsAlone: Int { 6 }
  /// The number of consecutive conflicts after which the rides in conflict are searched for.
  static var conflictsTogether: Int { 3 }

  init(backoff: Backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))) {
    self.backoff = backoff
  }

  /// All rides that are not yet settled or parked.
  var rides: [Ride] { portions.flatMap(\.rides) }

  /// Whether any rides wait for a lock.
  var hasDeferred: Bool { portions.contains(where: \.isDeferred) }

  /// Adds rides to settle.
  mutating func add(_ rides: [Ride]) {
    if !rides.isEmpty { portions.append(Portion(rides: rides)) }
  }

  /// Returns the step to take at this time.
  mutating func next(at now: Duration) -> Step {
    guard let first = portions.map(\.due).min() else { return .idle }
    let due = max(first, resumeAt)
    guard due <= now, let index = portions.firstIndex(where: { $0.due <= now }) else {
      return .wait(until: due)
    }
    current = index
    let portion = portions[index]
    switch (portion.plan, portion.rides.first, portion.failure) {
    case (.check, _, _): return .check
    case (.park, let ride?, let failure?): return .park(ride, reason: failure.description)
    case (.park, _, _), (.settle, _, _): return .settle(portion.rides)
    }
  }

  /// Makes all waiting portions due at once, because a stop was requested.
  mutating func makeAllDue() {
    resumeAt = .zero
    for index in portions.indices { portions[index].due = .zero }
  }
}

// The results of steps.
extension SettlePolicy {
  /// Records that the rides were settled or lost, except those that another session has locked.
  ///
  /// - Returns: the rides that need no further step.
  mutating func settled(at now: Duration, isLocked: (Ride) -> Bool = { _ in false }) -> [Ride] {
    guard var portion = takeCurrent() else { return [] }
    let done = portion.rides.filter { !isLocked($0) }
    portion.rides = portion.rides.filter(isLocked)
    if !portion.rides.isEmpty { postpone(portion, at: now) }
    succeeded()
    return done
  }

  /// Records that the store refused to settle.
  mutating func failed(_ failure: StoreFailure, at now: Duration, random: Double) {
    guard var portion = takeCurrent() else { return }
    portion.failures += 1
    portion.failure = failure
    if portion.isDeferred, failure.cause == .conflict {
      // Each ride is tried alone in the end, which shows whether its lock is released.
      return portion.rides.count > 1 ? split(portion) : postpone(portion, at: now)
    }
    portion.isDeferred = false
    let delay = failing(failure, at: now, random: random)
    let isAlone = portion.rides.count == 1
    switch failure.cause {
    case .timeout where !isAlone: return split(portion)
    case .values where portion.isSuspect && !isAlone: return split(portion)
    case .refused where portion.isSuspect && !isAlone: return split(portion)
    case .values: portion.plan = .check
    case .refused where portion.failures >= 2: portion.plan = .check
    case .timeout where portion.failures >= Self.timeoutsAlone: portion.plan = .check
    case .conflict where portion.failures >= Self.conflictsTogether: portion.plan = .check
    case .unavailable, .conflict, .timeout, .refused: resumeAt = now + delay
    }
    portions.insert(portion, at: 0)
  }

  /// Records that the store can settle: the rides fail because of their content or a lock.
  mutating func checked(at now: Duration) {
    guard var portion = takeCurrent() else { return }
    attempts = 0
    if portion.rides.count > 1 {
      portion.isSuspect = true
      split(portion)
    } else if portion.failure?.cause == .conflict {
      postpone(portion, at: now)
      succeeded()
    } else {
      // One more attempt rules out a fault that has ended in the meantime: a ride is parked only if
      // it fails between two successful checks.
      portion.plan = portion.wasChecked ? .park : .settle
      portion.wasChecked = true
      portions.insert(portion, at: 0)
    }
  }

  /// Records that the synthetic ride is refused too: the fault is general, and no ride is its
  /// cause.
  mutating func checkFailed(_ failure: StoreFailure, at now: Duration, random: Double) {
    repeatLater(failure, at: now, random: random)
  }

  /// Records that the ride is parked; returns it.
  mutating func parked() -> [Ride] {
    guard let portion = takeCurrent() else { return [] }
    succeeded()
    return portion.rides
  }

  /// Records that the ride could not be parked, which is not caused by the ride.
  mutating func parkFailed(_ failure: StoreFailure, at now: Duration, random: Double) {
    repeatLater(failure, at: now, random: random)
  }

  private mutating func repeatLater(
    _ failure: StoreFailure, at now: Duration, random: Double
  ) {
    guard var portion = takeCurrent() else { return }
    resumeAt = now + failing(failure, at: now, random: random)
    portion.plan = .settle
    portion.isDeferred = false
    // Earlier failures of this ride and of all others may have the same cause, so earlier checks
    // are void.
    for index in portions.indices { portions[index].wasChecked = false }
    portion.wasChecked = false
    portions.insert(portion, at: 0)
  }

  private mutating func takeCurrent() -> Portion? {
    guard let index = current, portions.indices.contains(index) else { return nil }
    current = nil
    return portions.remove(at: index)
  }

  private mutating func split(_ portion: Portion) {
    let half = portion.rides.count / 2
    let halves = [portion.rides[..<half], portion.rides[half...]].map { rides in
      var part = Portion(rides: Array(rides))
      part.isSuspect = portion.isSuspect
      part.wasChecked = portion.isSuspect
      part.isDeferred = portion.isDeferred
      // Both halves count as failing until they succeed.
      part.failures = portion.isSuspect ? 0 : 1
      part.failure = portion.failure
      return part
    }
    portions.insert(contentsOf: halves, at: 0)
  }

  private mutating func postpone(_ portion: Portion, at now: Duration) {
    var portion = portion
    portion.plan = .settle
    portion.isDeferred = true
    portion.isSuspect = false
    portion.failures = 0
    portion.deferrals += 1
    portion.due = now + backoff.delay(failures: portion.deferrals, random: 1)
    portions.append(portion)
  }

  private mutating func failing(
    _ failure: StoreFailure, at now: Duration, random: Double
  ) -> Duration {
    halt = Halt(since: halt?.since ?? now, failure: failure)
    attempts += 1
    return backoff.delay(failures: attempts - 1, random: random)
  }

  private mutating func succeeded() {
    attempts = 0
    resumeAt = .zero
    if !portions.contains(where: \.isFailing) { halt = nil }
  }
}
