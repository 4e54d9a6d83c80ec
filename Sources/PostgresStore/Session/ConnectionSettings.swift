internal import CLibpq

/// How to connect: a connection string and what this program adds to it.
struct ConnectionSettings: Sendable {
  let conninfo: String
  let applicationName: String
  let connectTimeout: Duration

  init(conninfo: String, applicationName: String, connectTimeout: Duration) throws(PostgresError) {
    self.conninfo = conninfo
    self.applicationName = applicationName
    self.connectTimeout = connectTimeout
    try Self.check(conninfo)
  }

  /// Parameters in libpq's order: those before `dbname` give way to the connection string.
  var parameters: [(key: String, value: String)] {
    var pairs = [
      (key: "fallback_application_name", value: applicationName),
      // A peer that vanished without a word is noticed within about 25 s.
      (key: "keepalives_idle", value: "10"),
      (key: "keepalives_interval", value: "5"),
      (key: "keepalives_count", value: "3"),
      (key: "tcp_user_timeout", value: "20000"),
    ]
    if !conninfo.isEmpty { pairs.append((key: "dbname", value: conninfo)) }
    pairs.append((key: "client_encoding", value: "UTF8"))
    return pairs
  }

  private static func check(_ conninfo: String) throws(PostgresError) {
    var message: UnsafeMutablePointer<CChar>?
    let options = unsafe PQconninfoParse(conninfo, &message)
    defer {
      unsafe PQconninfoFree(options)
      unsafe PQfreemem(message)
    }
    guard unsafe options == nil else { return }
    let reason = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
    throw PostgresError(.invalidConninfo(reason: Redaction.cleanParseError(reason)))
  }
}
