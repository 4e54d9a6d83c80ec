internal import CLibpq
internal import Glibc

/// How to connect: a connection string and the options that this program adds to it.
struct ConnectionSettings: Sendable {
  let conninfo: String
  let applicationName: String
  let connectTimeout: Duration
  /// The passwords in the connection string, to be removed from messages of libpq and the server.
  let secrets: KnownSecrets

  init(conninfo: String, applicationName: String, connectTimeout: Duration) throws(PostgresError) {
    self.conninfo = conninfo
    self.applicationName = applicationName
    self.connectTimeout = connectTimeout
    let options = try Self.options(of: conninfo)
    if let problem = ConnectionURL(conninfo)?.problem ?? Self.problem(of: options["host"]) {
      throw PostgresError(.invalidConninfo(reason: problem))
    }
    let own = ["password", "sslpassword"].compactMap { options[$0] }
    let raw = [ConnectionURL(conninfo)?.rawPassword, Self.variable("PGPASSWORD")].compactMap(\.self)
    secrets = KnownSecrets(own + raw)
  }

  /// The options in libpq's order.
  ///
  /// The connection string (`dbname`) overrides the options before it.
  var parameters: [(key: String, value: String)] {
    var pairs = [
      (key: "fallback_application_name", value: applicationName),
      // With these, a peer that vanished silently is detected within about 25 s.
      (key: "keepalives_idle", value: "10"),
      (key: "keepalives_interval", value: "5"),
      (key: "keepalives_count", value: "3"),
      (key: "tcp_user_timeout", value: "20000"),
    ]
    if !conninfo.isEmpty { pairs.append((key: "dbname", value: conninfo)) }
    pairs.append((key: "client_encoding", value: "UTF8"))
    return pairs
  }

  /// Returns the options that the connection string sets.
  private static func options(of conninfo: String) throws(PostgresError) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    let options = unsafe PQconninfoParse(conninfo, &message)
    defer {
      unsafe PQconninfoFree(options)
      unsafe PQfreemem(message)
    }
    guard var next = unsafe options else {
      let reason = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
      throw PostgresError(.invalidConninfo(reason: Redaction.cleanParseError(reason)))
    }
    var values: [String: String] = [:]
    while let keyword = unsafe next.pointee.keyword {
      if let value = unsafe next.pointee.val {
        unsafe values[String(cString: keyword)] = unsafe String(cString: value)
      }
      unsafe next += 1
    }
    return values
  }

  /// Returns why a host name cannot be valid, or nil.
  ///
  /// The name may be part of a password, and must not be sent to a name server.
  private static func problem(of host: String?) -> String? {
    let names = (host ?? "").utf8.split(separator: UInt8(ascii: ","))
    let isWrong = names.contains { name in
      // Allows a path, and an abstract Unix socket, which begins with @.
      name.first != UInt8(ascii: "/") && name.dropFirst().contains(UInt8(ascii: "@"))
    }
    return isWrong ? "the host holds an @; in a URL write @ in a user or password as %40" : nil
  }

  private static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
