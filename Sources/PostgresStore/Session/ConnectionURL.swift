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
