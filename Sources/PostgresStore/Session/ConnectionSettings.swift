internal import CLibpq
internal import Glibc
internal import RideCore

/// How to connect: a connection string and the options that this program adds to it.
struct ConnectionSettings: Sendable {
  let conninfo: String
  let applicationName: String
  let connectTimeout: Duration
  /// Whether several hosts are given without a choice among them. A standby among them would accept
  /// the connection and refuse the writes.
  private let needsPrimary: Bool
  /// Whether several hosts are given with a choice that accepts a standby.
  let mayReachStandby: Bool
  /// The passwords in the connection string, to be removed from messages of libpq and the server.
  let secrets: KnownSecrets
  /// Nil if there is one host, or if a service file may name others.
  private let hostList: HostList?

  /// - Parameter variable: Returns an environment variable of libpq.
  init(
    conninfo: String, applicationName: String, connectTimeout: Duration,
    variable: (String) -> String? = Self.variable
  ) throws(PostgresError) {
    self.conninfo = conninfo
    self.applicationName = applicationName
    self.connectTimeout = connectTimeout
    let options = try Self.options(of: conninfo)
    if let problem = ConnectionURL(conninfo)?.problem ?? Self.problem(of: options["host"]) {
      throw PostgresError(.invalidConninfo(reason: problem))
    }
    // A service file outweighs the environment, and may set what the connection string does not.
    let hasService = (options["service"] ?? variable("PGSERVICE")) != nil
    func value(_ option: String, _ name: String) -> String? {
      options[option] ?? (hasService ? nil : variable(name))
    }
    let hosts = [value("host", "PGHOST"), value("hostaddr", "PGHOSTADDR")]
    let attributes = value("target_session_attrs", "PGTARGETSESSIONATTRS")
    let areSeveral = hosts.contains { $0?.contains(",") ?? false }
    needsPrimary = areSeveral && attributes == nil && !hasService
    mayReachStandby =
      areSeveral && attributes.map { !["read-write", "primary"].contains($0) } ?? false
    let own = ["password", "sslpassword"].compactMap { options[$0] }
    let raw = [ConnectionURL(conninfo)?.rawPassword, variable("PGPASSWORD")].compactMap(\.self)
    secrets = KnownSecrets(own + raw)
    let list = HostList(names: hosts[0], addresses: hosts[1], ports: value("port", "PGPORT"))
    hostList = hasService ? nil : list
  }

  /// The options in libpq's order.
  ///
  /// The connection string (`dbname`) overrides the options before it, and those after it override
  /// the connection string.
  ///
  /// - Parameter first: The host to try first, counted from 0 and around the end of the list.
  func parameters(first: Int) -> [(key: String, value: String)] {
    var pairs = [
      (key: "fallback_application_name", value: applicationName),
      // With these, a peer that vanished silently is detected within about 25 s.
      (key: "keepalives_idle", value: "10"),
      (key: "keepalives_interval", value: "5"),
      (key: "keepalives_count", value: "3"),
      (key: "tcp_user_timeout", value: "20000"),
    ]
    if needsPrimary { pairs.append((key: "target_session_attrs", value: "read-write")) }
    if !conninfo.isEmpty { pairs.append((key: "dbname", value: conninfo)) }
    pairs.append((key: "client_encoding", value: "UTF8"))
    return pairs + (hostList?.parameters(first: first) ?? [])
  }

  /// Returns the position in the list of the host after this one; nil if it is not known.
  func hostPosition(after host: String, port: String) -> Int? {
    hostList?.position(after: host, port: port)
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

/// The credentials in a connection string that is a URL.
///
/// libpq ends the password at the first `@` and takes the rest for the host. It would send part of
/// a password that contains `@` to a name server, and quote it in the error.
struct ConnectionURL {
  /// The text after `postgres://`.
  private let rest: Substring.UTF8View

  /// Returns nil if libpq would read the text as `key=value`.
  init?(_ conninfo: String) {
    let schemes = ["postgresql://", "postgres://"]
    guard let scheme = schemes.first(where: { conninfo.utf8.starts(with: $0.utf8) }) else {
      return nil
    }
    rest = conninfo.utf8.dropFirst(scheme.utf8.count)
  }

  private static let at = UInt8(ascii: "@")
  private static let slash = UInt8(ascii: "/")
  private static let colon = UInt8(ascii: ":")
  private static let question = UInt8(ascii: "?")

  /// Why the URL is refused; nil if the end of its password is unambiguous.
  var problem: String? {
    let words =
      "the URL's user or password holds an @ or a / as it is, or its database an @; "
      + "write @ as %40 and / as %2F"
    guard let end = rest.firstIndex(where: { $0 == Self.at || $0 == Self.slash }) else {
      return nil
    }
    let (before, after) = (rest[..<end], rest[rest.index(after: end)...])
    let path = after.prefix { $0 != Self.question }
    guard let mark = path.firstIndex(of: Self.at) else { return nil }
    if rest[end] == Self.at {
      let host = path.prefix { $0 != Self.slash }
      // Without a password, the database may be called tenant@city.
      return host.contains(Self.at) || before.contains(Self.colon) ? words : nil
    }
    return Self.isHost(before) && !path[mark...].contains(Self.slash) ? nil : words
  }

  /// Whether the text is one or more hosts, each port numeric, without a user and password.
  private static func isHost(_ text: Substring.UTF8View) -> Bool {
    text.split(separator: UInt8(ascii: ",")).allSatisfy { host in
      // The colons of an IPv6 address are inside brackets.
      let end = host.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
      guard let colon = host[end...].firstIndex(of: Self.colon) else { return true }
      return host[host.index(after: colon)...].allSatisfy { (0x30...0x39).contains($0) }
    }
  }

  /// The password as written, with its percent-encoding.
  var rawPassword: String? {
    guard let end = rest.lastIndex(of: Self.at),
      let colon = rest[..<end].firstIndex(of: Self.colon)
    else { return nil }
    return String(rest[rest.index(after: colon)..<end])
  }
}

/// Removes passwords from texts that may end in a log.
enum Redaction {
  /// Returns the text on one line, without the password of any connection string or URL in it.
  ///
  /// It removes too much rather than too little: a password may contain blanks and `@`.
  static func clean(_ text: String) -> String {
    // Matched by scalars: a character before a combining mark is one Character with it, which no
    // pattern would match.
    let setting =
      /(?:password|client_secret|client_key)["']?\s*[=:]\s*('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|(?:\\.|\S)+)/
      .ignoresCase().dotMatchesNewlines().matchingSemantics(.unicodeScalar)
    // Up to the last @ of the line: what libpq takes for the host may still be part of the
    // password.
    let credentials = /(:\/\/[^\n:@]*):[^\n]*@/.matchingSemantics(.unicodeScalar)
    return
      text
      .replacing(setting, with: "password=***")
      .replacing(credentials) { "\($0.output.1):***@" }
      .split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  /// Returns libpq's error about a connection string, without what it quotes.
  ///
  /// A quoted text may be part of the password. Only the names of options are kept, and only if
  /// they are a single word.
  static func cleanParseError(_ text: String) -> String {
    let option = /^invalid (?:connection option|URI query parameter):? "[a-z_]{1,40}"\s*$/
    if text.firstMatch(of: option) != nil { return clean(text) }
    return clean(
      text.replacing(
        /".*"/.dotMatchesNewlines().matchingSemantics(.unicodeScalar), with: "…"))
  }
}

/// The passwords of one connection, which can be removed from any text because they are known.
///
/// Messages of libpq and the server quote their input in forms of their own.
struct KnownSecrets: Sendable {
  /// Sorted with longer ones first, because one may be part of another.
  private let secrets: [String]

  /// - Parameter values: the passwords, decoded and as written. Those of up to three characters are
  ///   ignored: they are part of too many words, and no message names them.
  init(_ values: [String]) {
    secrets = Set(values).filter { $0.unicodeScalars.count > 3 }
      .sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
  }

  /// Returns the text without any of the passwords.
  func removed(from text: String) -> String {
    secrets.reduce(text) { text, secret in
      Self.replaced(secret, in: text)
    }
  }

  private static func replaced(_ secret: String, in text: String) -> String {
    let (needle, bytes) = (Array(secret.utf8), Array(text.utf8))
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index...].starts(with: needle) {
        result += Array("***".utf8)
        index += needle.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
