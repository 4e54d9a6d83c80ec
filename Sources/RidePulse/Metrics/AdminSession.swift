import PostgresStore

/// The session of who asks over HTTP: opened when somebody first does, so that others cost nothing,
/// and apart from the service's own, so that no question holds up a push.
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
