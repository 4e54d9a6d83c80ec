import RideCore

/// Formats a diagnosis for people: one line per check, followed by what fixes it.
struct DoctorTable {
  let diagnosis: Diagnosis
  let hasColour: Bool

  private static let width = 9

  var text: String {
    let width = diagnosis.findings.map { Escape.line($0.name).count }.max() ?? 0
    var lines: [String] = []
    for finding in diagnosis.findings {
      let word = Self.pad(finding.standing.rawValue.uppercased(), to: Self.width)
      lines.append(
        "\(coloured(word, finding.standing))\(Self.pad(Escape.line(finding.name), to: width))  "
          + Escape.line(finding.what))
      lines += finding.mend.map { Self.pad("", to: Self.width) + "do: \(Escape.line($0))" }
    }
    return (lines + ["", summary]).joined(separator: "\n")
  }

  private var summary: String {
    let words = [
      (CheckResult.Standing.failure, "failure", "failures"), (.warning, "warning", "warnings"),
      (.skipped, "skipped", "skipped"),
    ].compactMap { standing, one, many in
      let count = diagnosis.count(standing)
      return count == 0 ? nil : counted(count, one, many)
    }
    let list = words.joined(separator: ", ")
    if diagnosis.count(.failure) > 0 { return list }
    return list.isEmpty ? "all OK" : "OK, with \(list)"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func coloured(_ text: String, _ standing: CheckResult.Standing) -> String {
    guard hasColour else { return text }
    let code =
      switch standing {
      case .ok: 32
      case .warning: 33
      case .failure: 31
      case .skipped: 2
      }
    return "\u{1b}[\(code)m\(text)\u{1b}[0m"
  }
}

/// Formats a diagnosis for machines: one JSON object with sorted keys.
enum DoctorJSON {
  static func text(_ diagnosis: Diagnosis) -> String {
    let findings = diagnosis.findings.map { finding in
      JSONValue.object([
        "name": .string(finding.name), "standing": .string(finding.standing.rawValue),
        "what": .string(finding.what), "mend": .array(finding.mend.map { .string($0) }),
      ])
    }
    let document = JSONValue.object([
      "ok": .bool(diagnosis.status == .done), "findings": .array(findings),
    ])
    return String(decoding: document.json, as: UTF8.self)
  }
}
