import Base
import RideCore
import Synchronization

/// Tracks since when the calls of one kind have failed: a value without a clock.
struct CallHealth {
  /// A failure that no call has ended.
  struct Failure: Equatable {
    /// The uptime at which the first call that failed began.
    var since: Duration
    var failure: StoreFailure
  }

  /// How long a failure counts if no further call is made: only some rides need the call.
  static let memory: Duration = .seconds(60)

  private(set) var failure: Failure?
  /// When the current call began; nil if there is none.
  private var began: Duration?
  private var failedAt: Duration = .zero
  private var pace = FailurePace<StoreFailure>()

  /// Records that a call begins.
  mutating func begin(at uptime: Duration) {
    began = uptime
  }

  /// Records that a call failed; returns whether to log it.
  mutating func failed(_ new: StoreFailure, at uptime: Duration) -> Bool {
    let start = began ?? uptime
    let former = start - failedAt < Self.memory ? failure : nil
    failure = Failure(since: former?.since ?? start, failure: new)
    (failedAt, began) = (uptime, nil)
    return pace.failed(new, at: uptime)
  }

  /// Records that a call succeeded; returns the failure that it ended, if that is to be logged.
  mutating func succeeded(at uptime: Duration) -> Failure? {
    defer { pause() }
    return pace.succeeded(at: uptime) ? failure : nil
  }

  /// Records that no calls are made for now, so that none fails.
  mutating func pause() {
    (failure, began) = (nil, nil)
  }

  /// Returns how long calls have failed, up to the last of them or the one that goes on; nil while they
  /// succeed.
  func failing(at uptime: Duration) -> Duration? {
    guard let failure else { return nil }
    if let began, began - failedAt < Self.memory { return uptime - failure.since }
    return uptime - failedAt < Self.memory ? failedAt - failure.since : nil
  }
}

// Whether the calls succeed without which rides are not sent; readiness depends on it.
extension Engine {
  /// The calls that have failed for this long; empty while they succeed, and while the node does not
  /// claim.
  package func callFailures(lasting limit: Duration = .zero) -> [CallFailure] {
    let uptime = time.uptime()
    return state.withLock { $0.callFailures(lasting: limit, at: uptime) }
  }

  func begin(_ call: EngineCall) {
    let uptime = time.uptime()
    state.withLock { $0.calls[call, default: CallHealth()].begin(at: uptime) }
  }

  /// Returns whether to log the failure.
  func recordFailure(_ error: any Error, of call: EngineCall) -> Bool {
    let failure = Self.failure(error)
    let uptime = time.uptime()
    return state.withLock { $0.calls[call, default: CallHealth()].failed(failure, at: uptime) }
  }

  func recordSuccess(of call: EngineCall) {
    let uptime = time.uptime()
    guard let ended = state.withLock({ $0.calls[call]?.succeeded(at: uptime) }) else { return }
    let fields: Log.Fields = ["after": uptime - ended.since]
    switch call {
    case .claim: parts.log(.info, .claimRecovered, fields)
    case .claimLost: parts.log(.info, .lostClaimRecovered, fields)
    case .permits: parts.log(.info, .permitsRecovered, fields)
    case .journal: parts.log(.info, .journalRecovered, fields)
    }
  }
}

extension Engine.State {
  func callFailures(lasting limit: Duration, at uptime: Duration) -> [CallFailure] {
    EngineCall.allCases.compactMap { call in
      guard let health = calls[call], let failure = health.failure?.failure,
        let duration = health.failing(at: uptime), duration >= limit
      else { return nil }
      return CallFailure(call, lasting: duration, failure)
    }
  }
}
