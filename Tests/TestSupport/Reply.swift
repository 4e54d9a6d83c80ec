import Foundation

/// A reply to Debian's curl, a client that contains none of our code.
package struct Reply: Equatable {
  package let status: Int
  package let headers: [String: String]
  package let body: String

  /// Parses one reply of `curl --include`, whose lines end in CR LF.
  package init(_ text: String) {
    let halves = text.components(separatedBy: "\r\n\r\n")
    let lines = halves[0].components(separatedBy: "\r\n")
    status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let pairs = lines.dropFirst().map { line in
      let parts = line.components(separatedBy: ": ")
      return (parts[0], parts.dropFirst().joined(separator: ": "))
    }
    headers = Dictionary(pairs) { first, _ in first }
    body = halves.dropFirst().joined(separator: "\r\n\r\n")
  }
}
