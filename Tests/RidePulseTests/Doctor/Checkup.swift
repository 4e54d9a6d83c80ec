import Foundation
import Testing
import TestSupport

/// The result of one run of `ridepulse doctor`.
struct Checkup: CustomStringConvertible {
  struct CheckResult: Decodable {
    var name: String
    var standing: String
    var what: String
    var remedy: [String]

    private enum CodingKeys: String, CodingKey {
      case name, remedy
      case standing = "status"
      case what = "message"
    }
  }

  private struct Document: Decodable {
    var ok: Bool
    var checks: [CheckResult]
  }

  let status: Int32
  let checks: [CheckResult]
  let description: String

  init(_ environment: [String: String], sourceLocation: Testing.SourceLocation = #_sourceLocation)
    throws
  {
    let result = try Command.ridepulse(["doctor", "--format", "json"], environment, in: "/tmp")
    description = result.output + result.errors
    status = result.status
    let document = try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
    checks = document.checks
    // R60, checked for every run in any test.
    Secrets.expectNone(in: description)
    #expect(document.ok == (status == 0), sourceLocation: sourceLocation)
    #expect(
      status == (names("failure").isEmpty ? 0 : 2), "\(description)", sourceLocation: sourceLocation
    )
    for result in checks {
      let isBad = ["failure", "warning"].contains(result.standing)
      #expect(isBad == !result.remedy.isEmpty, "\(result)", sourceLocation: sourceLocation)
    }
  }

  func names(_ standing: String) -> [String] {
    checks.filter { $0.standing == standing }.map(\.name)
  }

  /// Expects a check result whose text or fixes contain a text.
  func expect(
    _ name: String, _ standing: String, _ text: String = "",
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let result = checks.first { $0.name == name }
    let words = ([result?.what ?? ""] + (result?.remedy ?? [])).joined(separator: "\n")
    #expect(
      result?.standing == standing && (text.isEmpty || words.contains(text)),
      "\(name) is not \(standing) with \"\(text)\": \(self)", sourceLocation: sourceLocation)
  }
}
