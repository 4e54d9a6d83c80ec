import Base
import Foundation
import RideCore
import Testing
import TestSupport

@testable import AdminServer
@testable import RidePulse

/// The names of docs/compatibility.md that users write or read: of commands, variables, HTTP, metrics.
@Suite("Promised names") struct PromisedNameTests {
  @Test func `Commands, their operands, options and words, and exit statuses`() throws {
    var names = [ExitStatus.done, .failed, .foundProblems, .usage].map {
      "exit status \($0.rawValue)"
    }
    for form in Commands.all.map({ $0.form }) {
      names.append(form.name)
      for operand in form.operands {
        let count = (operand.isOptional ? " optional" : "") + (operand.isRepeatable ? " ..." : "")
        names.append("\(form.name) \(operand.name)\(count)")
        names += operand.choices.map { "\(form.name) \(operand.name) = \($0)" }
      }
      for option in form.options { names += Self.names(option, of: form.name) }
    }
    for option in CommandForm.common { names += Self.names(option, of: "each command") }
    try PromisedNames.compare(names, with: "commands")
  }

  private static func names(_ option: CommandForm.Option, of command: String) -> [String] {
    let count = (option.isRequired ? " required" : "") + (option.isRepeatable ? " ..." : "")
    return ["\(command) \(option.label)\(count)"]
      + option.choices.map { "\(command) \(option.name) = \($0)" }
  }

  /// The first column of the table in docs/configuration.md; a fragment of each is in the sources.
  @Test func `Environment variables`() throws {
    let page = try Self.text("docs/configuration.md")
    let table = page.prefix(upTo: page.range(of: "\n## ")?.lowerBound ?? page.endIndex)
    let names = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
      row.dropFirst(2).prefix(upTo: row.range(of: " | ")?.lowerBound ?? row.endIndex)
        .matches(of: /`([A-Z_<>]+)`/).map { String($0.output.1) }
    }
    #expect(names.count > 40)
    let sources = try Self.sources()
    for name in names {
      let fragment = name.split(separator: ">").last.map(String.init) ?? name
      let isOfOpenTelemetry = name.hasPrefix("OTEL_EXPORTER_OTLP_")
      // `…_FILE` is put behind the name of a secret.
      let written = [fragment, String(fragment.trimmingPrefix("_"))].flatMap {
        [$0, $0.replacing(/_FILE$/, with: ""), $0.replacing(/(KEY_ID|KEY_PATH)$/, with: "")]
      }
      #expect(isOfOpenTelemetry || written.contains { sources.contains($0 + "\"") }, "\(name)")
    }
    try PromisedNames.compare(names, with: "environment")
  }

  /// `OpenAPITests` compares the document with routes, fields and answers.
  @Test func `Routes, parameters, members and error codes of HTTP`() throws {
    let document = try OpenAPIDocument()
    var names = ["GET /healthz", "GET /readyz", "GET /metrics", "GET /", "POST /wake"]
    for (path, methods) in document.members("paths") {
      for (method, operation) in methods.members {
        let call = "\(method.uppercased()) \(path)"
        names.append(call)
        for parameter in (operation["parameters"]?.elements ?? []).map(document.followed) {
          let name = parameter["name"]?.texts.first ?? ""
          names.append("\(call) \(parameter["in"]?.texts.first ?? "") \(name)")
        }
        names += (operation["responses"]?.members.keys.sorted() ?? []).map {
          "\(call) status \($0)"
        }
      }
    }
    for (schema, value) in document.members("components", "schemas") {
      names += (value["enum"]?.texts ?? []).map { "\(schema) = \($0)" }
      let required = value["required"]?.texts ?? []
      for (member, form) in value["properties"]?.members ?? [:] {
        let isRequired = required.contains(member) ? " required" : ""
        names.append("\(schema).\(member)\(isRequired)")
        names += (form["enum"]?.texts ?? []).map { "\(schema).\(member) = \($0)" }
      }
    }
    try PromisedNames.compare(names, with: "http")
  }

  /// `MetricsTests` compares the page with the metrics of a service and their labels.
  @Test func `Metrics and their labels`() throws {
    let rows = try Self.text("docs/metrics.md")
      .matches(of: /(?m)^\| `(\w+)` \| (\w+) \| ([^|]*) \|/)
    let sources = try Self.sources()
    for row in rows { #expect(sources.contains("\"\(row.output.1)\""), "\(row.output.1)") }
    let names = rows.flatMap { row in
      ["\(row.output.1) \(row.output.2)"]
        + row.output.3.split(separator: ",").map {
          "\(row.output.1) label \($0.trimmingCharacters(in: .whitespaces))"
        }
    }
    #expect(names.count > 80)
    try PromisedNames.compare(names, with: "metrics")
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: Project.path(path), encoding: .utf8)
  }

  /// The text of all sources of the program.
  private static func sources() throws -> String {
    let root = Project.path("Sources")
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return try names.filter { $0.hasSuffix(".swift") }
      .map { try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8) }.joined()
  }
}
