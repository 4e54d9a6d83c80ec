/// The servers of a connection string with several hosts, in the order in which they are tried.
///
/// libpq limits the time for each host only in its blocking calls. Here one limit covers an attempt
/// over all hosts: a machine that is gone, and whose address swallows packets, would use it up each
/// time, and the hosts after it would never be tried. The attempt after that begins with the host
/// that follows.
struct HostList: Hashable, Sendable {
  private let names: [Substring]
  private let addresses: [Substring]
  private let ports: [Substring]
  private let count: Int

  /// Splits the options `host`, `hostaddr` and `port`; returns nil if they name one host, or do not
  /// fit each other, which libpq reports.
  init?(names: String?, addresses: String?, ports: String?) {
    let split = { (text: String?) in
      text.map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
    }
    (self.names, self.addresses, self.ports) = (split(names), split(addresses), split(ports))
    count = max(self.names.count, self.addresses.count)
    guard count > 1, [0, count].contains(self.names.count),
      [0, count].contains(self.addresses.count), [0, 1, count].contains(self.ports.count)
    else { return nil }
  }

  /// Returns the position of the host after the one that libpq calls by this name and port; nil if
  /// it is not in the list.
  func position(after name: String, port: String) -> Int? {
    let known = names.isEmpty ? addresses : names
    let found = known.indices.first { index in
      let own = ports.count == count ? ports[index] : ""
      return known[index] == name && (own.isEmpty || own == port)
    }
    return found.map { ($0 + 1) % count }
  }

  /// Returns the options with the list begun at a host, counted from 0 and around the end.
  func parameters(first: Int) -> [(key: String, value: String)] {
    let start = first % count
    return [("host", names), ("hostaddr", addresses), ("port", ports)].compactMap { key, list in
      if list.isEmpty { return nil }
      let rotated = list.count == 1 ? list : Array(list[start...] + list[..<start])
      return (key: key, value: rotated.joined(separator: ","))
    }
  }
}
