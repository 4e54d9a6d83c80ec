import Base
import PostgresStore

/// The format of an export.
enum ExportFormat: String, CaseIterable {
  /// JSON Lines: one object on each line.
  case jsonl
  /// Comma-separated values by RFC 4180, with a header.
  case csv

  /// The first line; nil without one.
  var header: [UInt8]? {
    switch self {
    case .jsonl: nil
    case .csv: Self.csv(Delivery.names.map { .string($0) })
    }
  }

  func line(_ delivery: Delivery) -> [UInt8] {
    switch self {
    case .jsonl: delivery.json.json
    case .csv: Self.csv(Delivery.names.map { delivery.json[$0] ?? .null })
    }
  }

  /// Returns a record without its line feed. NULL is an empty field, an empty text is `""`.
  static func csv(_ values: [JSONValue]) -> [UInt8] {
    let fields = values.map { value in
      switch value {
      case .null: ""
      case .string(let text): field(text)
      default: field(value.text)
      }
    }
    return Array((fields.joined(separator: ",") + "\r").utf8)
  }

  private static func field(_ text: String) -> String {
    let special: [Unicode.Scalar] = [",", "\"", "\r", "\n"]
    let isPlain = !text.isEmpty && !text.unicodeScalars.contains { special.contains($0) }
    if isPlain, !text.hasPrefix(" "), !text.hasSuffix(" ") { return text }
    let quoted = text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
    return "\"\(quoted)\""
  }
}
