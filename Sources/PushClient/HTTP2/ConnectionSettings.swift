/// What one connection may do, and how long it waits for what.
struct ConnectionSettings {
  /// Whose answers its streams get.
  var provider = Provider.apns

  var maxStreams = 1000

  /// The limit until the server has stated its own; nil for `maxStreams`.
  var streamsBeforeSettings: Int?

  /// True if the connection does not have to be proved by a first stream.
  var startsProved = false

  /// A connection is pinged after it has received nothing for this long.
  var pingAfter: Duration = .seconds(30)

  /// False if the server takes pings as an attack: then only a stream that waits for its answer
  /// justifies one, and the next one only an answer.
  var pingsIdle = true

  var pingTimeout: Duration = .seconds(10)
  var maxAge: Duration = .seconds(24 * 3600)

  /// A connection without streams is closed after this; nil for never.
  var idleTimeout: Duration?
  var timeoutsInARow = 3

  /// A timeout after a shorter wait than this does not count against the connection: its push
  /// spent most of its time in a queue.
  var fairWait: Duration = .seconds(3)

  /// A connection whose ping is unanswered for this long is suspect: it gets no pushes, because
  /// it may be dead.
  var suspectAfter: Duration = .seconds(1)
}
