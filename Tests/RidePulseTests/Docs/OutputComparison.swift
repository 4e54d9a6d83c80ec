import Foundation

/// Compares what a page prints with what a command printed.
///
/// `[…]` on a line of its own stands for any lines, within a line for any text. With `varies`, values
/// that differ from run to run are compared by their kind alone: times, durations, UUIDs and other
/// IDs, ends of tokens. Two places with one ID on the page must have one ID in the output.
struct OutputComparison {
  let varies: Bool
  /// IDs of the page with those of this run.
  private var values: [String: String] = [:]

  init(varies: Bool) {
    self.varies = varies
  }

  /// Values that vary, each kind with its form.
  private let varying =
    #/
    (?<id>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})
    |(?<time>\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\ ?[+-]\d\d(?::?\d\d)?)?
      |\b\d\d:\d\d:\d\d(?:\ [+-]\d\d:\d\d)?)
    |(?<hex>\b[0-9a-f]{64}\b|…[0-9a-f]{6}\b|\b[A-Za-z0-9+\/]{22}==|\bOID\ \d+\b)
    |(?<span>\b\d+\ ms\b|\bthe\ \d+s\ before\b)
    /#

  private static let gap = "[…]"

  private static func isGap(_ line: String) -> Bool {
    line.trimmingCharacters(in: .whitespaces) == gap
  }

  /// Returns what differs; nil if the output is as on the page.
  mutating func difference(page: [String], output: [String]) -> String? {
    let (page, output) = (Self.trimmed(page), Self.trimmed(output))
    var parts = page.split(omittingEmptySubsequences: false) { Self.isGap($0) }.map(Array.init)
    let first = parts.removeFirst()
    if let difference = match(first, at: 0, of: output) { return difference }
    var offset = first.count
    guard let last = parts.popLast() else { return rest(of: output, from: offset) }
    for part in parts {
      let offsets = offset...max(offset, output.count - part.count)
      guard let found = offsets.first(where: { isMatch(part, at: $0, of: output) }) else {
        return Self.missing(part)
      }
      if let difference = match(part, at: found, of: output) { return difference }
      offset = found + part.count
    }
    guard output.count - last.count >= offset else { return Self.missing(last) }
    return match(last, at: output.count - last.count, of: output)
  }

  private static func missing(_ lines: [String]) -> String {
    "not printed:\n\(lines.joined(separator: "\n"))"
  }

  private func rest(of output: [String], from offset: Int) -> String? {
    let rest = output.dropFirst(offset)
    return rest.isEmpty
      ? nil : "printed, and not on the page:\n\(rest.joined(separator: "\n"))"
  }

  private static func trimmed(_ lines: [String]) -> [String] {
    var lines = lines.map(\.withoutTrailingSpaces)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  private func isMatch(_ page: [String], at offset: Int, of output: [String]) -> Bool {
    var copy = self
    return copy.match(page, at: offset, of: output) == nil
  }

  private mutating func match(_ page: [String], at offset: Int, of output: [String]) -> String? {
    for (index, line) in page.enumerated() {
      let printed = offset + index < output.count ? output[offset + index] : "(nothing)"
      if let difference = difference(page: line, printed: printed) { return difference }
    }
    return nil
  }

  private mutating func difference(page: String, printed: String) -> String? {
    let (expected, actual) = (form(of: page), form(of: printed))
    let parts = expected.text.components(separatedBy: Self.gap)
    guard parts.count > 1 else {
      return expected.text == actual.text
        ? learn(zip(expected.ids, actual.ids)) : "page:    \(page)\nprinted: \(printed)"
    }
    var rest = Substring(actual.text)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.range(of: part) else { rest = ""; break }
      rest = rest[found.upperBound...]
    }
    let isEqual =
      actual.text.hasPrefix(parts.first ?? "") && rest.hasSuffix(parts.last ?? "")
    return isEqual ? nil : "page:    \(page)\nprinted: \(printed)"
  }

  private mutating func learn(_ pairs: some Sequence<(String, String)>) -> String? {
    for (page, actual) in pairs {
      if let known = values[page], known != actual {
        return "\(page) of the page is \(known) in one place, and \(actual) in another"
      }
      values[page] = actual
    }
    return nil
  }

  /// Returns a line with its varying values replaced by their kinds, and the IDs among them.
  private func form(of line: String) -> (text: String, ids: [String]) {
    guard varies else { return (line, []) }
    var (text, ids) = ("", [String]())
    var position = line.startIndex
    for match in line.matches(of: varying) {
      text += line[position..<match.range.lowerBound]
      position = match.range.upperBound
      if let id = match.id ?? match.hex {
        text += match.id == nil ? "<hex>" : "<id>"
        ids.append(id.hasPrefix("…") ? String(id.dropFirst()) : String(id))
      } else {
        text += match.time == nil ? "<span>" : "<time>"
      }
    }
    return (text + line[position...], ids)
  }
}

extension String {
  var withoutTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
  }
}
