/// The version of an app, such as `5.2.1`, in the order in which an app is released.
package struct AppVersion: Hashable, Comparable, Sendable {
  /// As the app reports it.
  package let text: String
  private let parts: [Int]

  /// Nil if the text does not begin with numbers between dots. What follows them, such as `-beta` or
  /// ` (812)`, is not compared.
  package init?(_ text: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    var parts: [Int] = []
    for part in number.split(separator: ".") {
      guard let part = Int(part) else { return nil }
      parts.append(part)
    }
    if parts.isEmpty { return nil }
    self.text = text
    while parts.count > 1, parts.last == 0 { parts.removeLast() }
    self.parts = parts
  }

  package static func < (left: AppVersion, right: AppVersion) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }

  package static func == (left: AppVersion, right: AppVersion) -> Bool { left.parts == right.parts }

  package func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}
