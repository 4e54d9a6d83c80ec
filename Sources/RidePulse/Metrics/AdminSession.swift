import PostgresStore

/// The database session of read requests over HTTP.
///
/// It is opened at the first request, so that a service without requests has none, and is separate
/// from the engine's sessions, so that no query delays a push.
actor AdminSession {
  private let conninfo: String
  private var session: PostgresSession?

  init(conninfo: String) {
    self.conninfo = conninfo
  }

  func get() throws -> PostgresSession {
    if let session { return session }
    let opened = try PostgresSession(conninfo: conninfo, applicationName: "ridepulse admin")
    session = opened
    return opened
  }

  func close() async {
    await session?.close(limit: .seconds(1))
    session = nil
  }
}
