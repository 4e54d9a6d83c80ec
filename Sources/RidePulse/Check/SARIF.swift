import Base

/// Findings in SARIF 2.1.0, which code scanning reads
/// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
struct SARIF {
  private let findings: [CheckFinding]

  init(_ findings: [CheckFinding]) {
    self.findings = findings
  }

  var json: JSONValue {
    .object([
      "$schema": .string("https://json.schemastore.org/sarif-2.1.0.json"),
      "version": .string("2.1.0"),
      "runs": .array([
        .object([
          "tool": .object(["driver": driver]),
          // Columns of rule files count Unicode scalars.
          "columnKind": .string("unicodeCodePoints"),
          "results": .array(findings.map(result)),
        ])
      ]),
    ])
  }

  private var driver: JSONValue {
    .object([
      "name": .string("ridepulse"), "version": .string(Version.text),
      "rules": .array(
        CheckFinding.Kind.allCases.map { kind in
          .object([
            "id": .string(kind.rawValue),
            "shortDescription": .object(["text": .string(kind.summary)]),
          ])
        }),
    ])
  }

  private func result(_ finding: CheckFinding) -> JSONValue {
    let rule = finding.rule.map { "the rule \($0): " } ?? ""
    var members: [String: JSONValue] = [
      "ruleId": .string(finding.kind.rawValue),
      "level": .string(finding.severity.rawValue),
      "message": .object(["text": .string(rule + finding.message)]),
    ]
    if let location = finding.location {
      members["locations"] = .array([
        .object(["physicalLocation": .object(Self.physical(location))])
      ])
    }
    return .object(members)
  }

  private static func physical(_ location: FileLocation) -> [String: JSONValue] {
    // Code scanning shows nothing without a line.
    var region: [String: JSONValue] = ["startLine": .integer(Int64(location.location?.line ?? 1))]
    if let column = location.location?.column { region["startColumn"] = .integer(Int64(column)) }
    return [
      "artifactLocation": .object(["uri": .string(uri(location.file))]), "region": .object(region),
    ]
  }

  /// Returns a path as a URI: relative ones stay relative, to the root of the repository.
  static func uri(_ path: String) -> String {
    let path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    let encoded = path.utf8.map { byte in
      isPlain(byte) ? String(decoding: [byte], as: UTF8.self) : Escape.percent(byte)
    }.joined()
    return path.hasPrefix("/") ? "file://\(encoded)" : encoded
  }

  /// What a segment of a relative URI may have as it is; a colon would end a scheme.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~/".utf8.contains(byte)
    }
  }
}
