import RideCore

/// Decides how rides are settled that the store refuses to settle: repeat, check, split, park.
///
/// A state machine without clock or I/O. One step is taken at a time, and its result comes back
/// before the next one. What fails for its content is found by halving and parked; nothing is parked
/// unless a check has shown that the store can settle.
struct SettlePolicy<Ride: Sendable>: Sendable {
  /// What to do next.
  enum Step: Sendable {
    case settle([Ride])
    /// Settle a made-up ride and roll it back.
    case check
    case park(Ride, reason: String)
    case wait(until: Duration)
    /// There is nothing to settle.
    case idle
  }

  /// Settlements fail: no ride may be claimed or sent.
  struct Halt: Equatable, Sendable {
    /// On the clock that is never set.
    var since: Duration
    /// The last failure.
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
    /// It comes from a batch that failed although the store could settle.
    var isSuspect = false
    /// The last check succeeded, and that was before the last failure.
    var wasChecked = false
    /// It waits for a lock that others hold; everything else goes on.
    var isDeferred = false
    var deferrals = 0
    /// Not before.
    var due: Duration = .zero

    var isFailing: Bool { !isDeferred && (failures > 0 || isSuspect) }
  }

  private var portions: [Portion] = []
  /// The portion of the step that was taken last.
  private var current: Int?
  /// Nothing is tried before.
  private var resumeAt: Duration = .zero
  /// Failures since the last success.
  private var attempts = 0
  /// Nil while settlements succeed.
  private(set) var halt: Halt?

  private let backoff: Backoff

  /// How often a ride must time out alone before it is parked: a busy server is no reason.
  static var timeoutsAlone: Int { 6 }
  /// After how many conflicts in a row the rides in conflict are looked for.
  static var conflictsTogether: Int { 3 }

  init(backoff: Backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))) {
    self.backoff = backoff
  }

  /// All rides that it has.
  var rides: [Ride] { portions.flatMap(\.rides) }

  /// Whether rides wait for a lock.
  var hasDeferred: Bool { portions.contains(where: \.isDeferred) }

  /// Takes rides to settle.
  mutating func add(_ rides: [Ride]) {
    if !rides.isEmpty { portions.append(Portion(rides: rides)) }
  }

  /// What to do at this time.
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

  /// A stop was asked for: what waits is tried at once.
  mutating func hurry() {
    resumeAt = .zero
    for index in portions.indices { portions[index].due = .zero }
  }
}

// What came of the steps.
extension SettlePolicy {
  /// The rides were settled or are lost, except those that another session has locked.
  ///
  /// - Returns: The rides that need no further step.
  mutating func settled(at now: Duration, isLocked: (Ride) -> Bool = { _ in false }) -> [Ride] {
    guard var portion = takeCurrent() else { return [] }
    let done = portion.rides.filter { !isLocked($0) }
    portion.rides = portion.rides.filter(isLocked)
    if !portion.rides.isEmpty { postpone(portion, at: now) }
    succeeded()
    return done
  }

  /// The store refused to settle.
  mutating func failed(_ failure: StoreFailure, at now: Duration, random: Double) {
    guard var portion = takeCurrent() else { return }
    portion.failures += 1
    portion.failure = failure
    if portion.isDeferred, failure.cause == .conflict {
      // Whether one of them is free by now, each shows alone.
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

  /// The store can settle: the rides are refused for their content, or by who locks them.
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
      // A fault that has ended in between is told from the ride's own by one more try: only what
      // fails between two checks is to blame.
      portion.plan = portion.wasChecked ? .park : .settle
      portion.wasChecked = true
      portions.insert(portion, at: 0)
    }
  }

  /// Even the made-up ride is refused: the fault is general, and no ride is to blame.
  mutating func checkFailed(_ failure: StoreFailure, at now: Duration, random: Double) {
    repeatLater(failure, at: now, random: random)
  }

  /// The ride is parked.
  mutating func parked() -> [Ride] {
    guard let portion = takeCurrent() else { return [] }
    succeeded()
    return portion.rides
  }

  /// The ride could not even be parked: that is no fault of the ride.
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
    // What it failed of may have been the same fault, and so may that of all others.
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
      // Neither half is known to be healthy.
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
