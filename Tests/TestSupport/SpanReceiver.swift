import Foundation

/// A receiver of OTLP/HTTP that reads requests by OpenTelemetry's own definitions, from PyPI.
package final class SpanReceiver: Sendable {
  package struct Span: Decodable, Sendable {
    package var traceID: String
    package var id: String
    /// Empty for a root.
    package var parentID: String
    package var name: String
    package var kind: Int
    /// Nanoseconds since 1970.
    package var start: Int64
    package var end: Int64
    package var attributes: [String: String]
    package var isError: Bool
    package var links: [String]
    package var events: [String]
  }

  package struct Request: Decodable, Sendable {
    package var path: String
    package var spans: [Span]
    package var resource: [String: String]
    package var body: String
    package var authorization: String
    /// What it was answered with.
    package var answer: String
    /// Why a collector refuses it; nil if it does not.
    package var problem: String?
  }

  private struct Line: Decodable {
    var event: String
    var port: Int?
  }

  /// Whether the definitions are installed.
  package static let isAvailable =
    (try? Tool.run(
      "/usr/bin/env", ["python3", "-c", "import opentelemetry.proto.trace.v1.trace_pb2"]))?
    .status == 0
  package static let need = "needs opentelemetry-proto from PyPI"

  package let port: Int
  private let process: LineProcess

  package init() throws {
    process = try LineProcess(
      "/usr/bin/env",
      ["python3", Project.path("Tests/PushClientTests/SpanReceiver/receiver.py")])
    guard let port = Self.decoded(Line.self, process.firstLine)?.port else {
      throw TestFailure("the receiver did not start: \(process.firstLine)")
    }
    self.port = port
  }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// All requests so far.
  package var requests: [Request] {
    process.printed.compactMap { Self.decoded(Request.self, $0) }
  }

  /// The spans that it accepted.
  package var spans: [Span] {
    requests.filter { $0.problem == nil && $0.answer == "200" }.flatMap(\.spans)
  }

  /// Sets the answers from now on: `200`, `503`, `429 2`, `partial 1`.
  package func answer(with text: String) async throws {
    let count = changes
    try process.write(text)
    try await wait(until: "the receiver answers \(text)") { changes > count }
  }

  private var changes: Int {
    process.printed.count { Self.decoded(Line.self, $0)?.event == "set" }
  }

  /// Waits until it has accepted a span, and returns it.
  package func span(named name: String) async throws -> Span {
    var found: Span?
    try await wait(until: "a span \(name) among \(spans.map(\.name))") {
      found = spans.first { $0.name == name }
      return found != nil
    }
    guard let found else { throw TestFailure("no span \(name)") }
    return found
  }

  private static func decoded<Value: Decodable>(_ type: Value.Type, _ line: String) -> Value? {
    try? JSONDecoder().decode(type, from: Data(line.utf8))
  }
}
