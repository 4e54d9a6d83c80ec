import Base
import Foundation
import RideCore
import Testing

/// Texts from outside that try to break out of the context that shows them.
enum HostileText {
  /// Used as the ID of a ride and as names.
  static let texts = [
    "\u{600}<script>alert(1)</script>", "<\u{338}/script><img src=x onerror=alert(1)>",
    "\u{110bd}</script><script>alert(1)</script>", "<!--\u{301}<script>", "a\u{2028}b\u{2029}c",
    "\u{1b}[2J\u{1b}]0;owned\u{7}", "\u{9b}31mred", "x\n2026-11-21T00:00:00Z ERROR Forged",
    "x\r\nForged", "\u{202e}gnp.exe\u{202c}", "\u{2066}ltr\u{2069}", "\u{200b}hidden",
    "\u{301}; drop table t", "'\u{301}); drop table t; --", "\"\u{301} level=ERROR", "\\\u{301}",
    "$(touch /tmp/owned)`id`!x",
  ]

  /// Fails for any character that controls a terminal or hides from a reader; line feeds are our
  /// own.
  static func expectTame(
    _ output: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let wild = output.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control: scalar != "\n" && scalar != "\t"
      case .lineSeparator, .paragraphSeparator: true
      case .format: scalar != "\u{200d}" && scalar != "\u{200c}"
      default: false
      }
    }
    let codes = Set(wild.map { String($0.value, radix: 16) }).sorted()
    #expect(
      codes.isEmpty, "U+\(codes) in \(output.debugDescription)", sourceLocation: sourceLocation)
    #expect(
      !output.split(separator: "\n").contains {
        $0.hasPrefix("Forged") || $0.hasPrefix("2026-11-21T00:00:00Z ERROR")
      },
      "a line is forged: \(output)", sourceLocation: sourceLocation)
  }

  /// Creates a rides file with one ride for each text, each with a phone.
  static func ridesFile() throws -> String {
    let lines = texts.enumerated().map { index, text in
      let line = JSONValue.object([
        "id": .string(text), "state": .string("driver_assigned"),
        "customer_id": .string("c\(index)"),
        "attributes": .object(["driver_name": .string(text), "plate": .string(text)]),
        "phones": .array([
          .object([
            "app": .string("customer"), "token": .string(String(repeating: "ab", count: 32)),
          ])
        ]),
        "events": .array([.object(["event": .string("driver_arrived")])]),
      ])
      return String(decoding: line.json, as: UTF8.self)
    }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: path)
    return path.path
  }
}
