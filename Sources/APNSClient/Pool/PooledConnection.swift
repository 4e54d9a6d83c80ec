/// One connection as its pool sees it.
struct PooledConnection {
  enum Phase: Hashable {
    /// Its thread is opening it; then: ready, or gone.
    case connecting

    /// It takes pushes; then: leaving, or gone.
    case ready

    /// It finishes what it has and takes no more; then: gone.
    case leaving
  }

  let id: Int
  var phase = Phase.connecting

  /// What its thread said last.
  var load = Load()

  /// Its thread is awake, or was told to wake, and will ask for pushes.
  var isSignalled = false

  /// Since when it stands, or is being opened.
  var since: MonotonicTime

  /// When it had a push last.
  var busyAt: MonotonicTime

  /// What a connection's thread tells when it asks for pushes.
  struct Load: Hashable {
    /// Streams that may be opened now.
    var spare = 0

    /// Streams that are open.
    var inFlight = 0

    /// Streams that the server allows.
    var limit = 1

    /// APNs has answered a push of it as one with a valid token.
    var isProved = false

    /// A ping's answer is late: it may be dead.
    var isSuspect = false
  }
}
