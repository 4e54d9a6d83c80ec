import Base
import RideCore

/// A connection from its pool's point of view.
struct PooledConnection {
  enum Phase: Hashable {
    /// Its thread is opening it. Next: ready or gone.
    case connecting

    /// It accepts pushes. Next: leaving or gone.
    case ready

    /// It finishes its streams and accepts no more. Next: gone.
    case leaving
  }

  let id: Int
  var phase = Phase.connecting

  /// The load last reported by its thread.
  var load = Load()

  /// True if its thread is awake, or was signalled to wake, and will ask for pushes.
  var isSignalled = false

  /// When it was opened or, while connecting, when its opening began.
  var since: MonotonicTime

  /// When it last had a push in flight.
  var busyAt: MonotonicTime

  /// What a connection's thread reports when it asks for pushes.
  struct Load: Hashable {
    /// Streams that may be opened now.
    var freeStreams = 0

    /// Streams that are open.
    var inFlight = 0

    /// Streams that the server allows; 1 until the connection is proved.
    var limit = 1

    /// True if APNs has answered a push of this connection in a way that proves its token valid.
    var isProved = false

    /// True if the answer to a ping is late: the connection may be dead.
    var isSuspect = false
  }
}

/// The back-off between connection attempts, with its failure count.
///
/// The seed makes the waits of a test reproducible.
struct ConnectBackoff: Sendable {
  private let backoff: Backoff
  private(set) var failures = 0
  private var random: SeededGenerator

  init(base: Duration, cap: Duration, seed: UInt64) {
    backoff = Backoff(first: base, longest: cap)
    random = SeededGenerator(seed: seed)
  }

  /// Counts one more failure and returns how long to wait after it.
  mutating func failed() -> Duration {
    defer { failures += 1 }
    return backoff.delay(failures: failures, random: Double.random(in: 0..<1, using: &random))
  }

  /// Resets the count after a success.
  mutating func succeeded() { failures = 0 }
}

/// The limits of one pool.
struct PoolSettings {
  var requestTimeout: Duration = .seconds(10)

  /// A push with less time than this left for its answer is not sent, because its outcome
  /// would remain unknown.
  var leastWait: Duration { min(.milliseconds(500), requestTimeout / 10) }
  var maxConnections = 4
  var resendLimit = 3
  var idleTimeout: Duration = .seconds(300)

  /// With fewer queued pushes than this, another connection is not worth its handshake.
  var growAt = 100

  /// How long a new connection may lack a first answer before another is tried.
  var firstResponseTimeout: Duration = .seconds(5)

  /// A connection that ends sooner counts as a failed one.
  var minimumLifetime: Duration = .seconds(10)
}
