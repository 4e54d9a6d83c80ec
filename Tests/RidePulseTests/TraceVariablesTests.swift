import PushClient
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// `RIDEPULSE_OTLP_URL` and the variables of OpenTelemetry.
@Suite struct TraceVariablesTests {
  private static let base = "OTEL_EXPORTER_OTLP_ENDPOINT"
  private static let full = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
  private static let own = "RIDEPULSE_OTLP_URL"

  private func read(_ environment: [String: String]) throws -> TraceVariables {
    try TraceVariables(environment, node: "node-1")
  }

  private static let urls: [([String: String], String?)] = [
    ([:], nil),
    ([own: "http://c:4318"], "http://c:4318/v1/traces"),
    ([own: "http://c:4318/"], "http://c:4318/v1/traces"),
    ([own: "https://c/otlp/v1/traces"], "https://c/otlp/v1/traces"),
    ([own: "http://c/x?key=1"], "http://c/x?key=1"),
    ([base: "http://c:4318"], "http://c:4318/v1/traces"),
    ([base: "http://c:4318/otlp"], "http://c:4318/otlp/v1/traces"),
    ([base: "http://c:4318/otlp/"], "http://c:4318/otlp/v1/traces"),
    // As it is.
    ([full: "http://c:4318/otlp"], "http://c:4318/otlp"),
    ([full: "http://c:4318"], "http://c:4318/"),
    ([base: "http://a", full: "http://b/x"], "http://b/x"),
    ([base: "http://a", full: "http://b/x", own: "http://c/y"], "http://c/y"),
    ([own: "http://c", "OTEL_SDK_DISABLED": "true"], nil),
    ([own: "http://c", "OTEL_SDK_DISABLED": "TRUE"], nil),
    ([own: "http://c", "OTEL_SDK_DISABLED": "no"], "http://c/v1/traces"),
    ([base: "http://c", "OTEL_TRACES_EXPORTER": "none"], nil),
    ([base: "http://c", "OTEL_TRACES_EXPORTER": "console,otlp"], "http://c/v1/traces"),
    ([own: "http://c", "OTEL_TRACES_EXPORTER": "none"], "http://c/v1/traces"),
    ([base: "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"], "http://c/v1/traces"),
  ]

  @Test(arguments: urls.indices)
  func `the endpoint follows the rules of OpenTelemetry`(index: Int) throws {
    let (environment, url) = Self.urls[index]
    let variables = try read(environment)
    #expect(variables.target?.url == url && variables.warnings.isEmpty)
  }

  @Test(arguments: [
    "c:4318", "grpc://c:4317", "http://", "http://user:secret@c/", "http://c d/", "https:///x",
    "http://c\u{7f}/", "http://ä/",
  ])
  func `a URL that is none is refused if it is ours, and ignored with a warning if not`(
    url: String
  ) throws {
    let failure = #expect(throws: CommandFailure.self) { try self.read([Self.own: url]) }
    #expect(failure?.description.hasPrefix("\(Self.own): expected http://HOST:PORT") == true)
    #expect(failure?.description.contains("secret") == false)
    let variables = try read([Self.base: url])
    #expect(variables.target == nil && variables.warnings.count == 1)
    #expect(!variables.warnings.joined().contains("secret"))
  }

  @Test func `gRPC is not supported, and the warning names what to set`() throws {
    let variables = try read([
      Self.base: "http://c:4317", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
    ])
    #expect(variables.target == nil)
    #expect(
      variables.warnings == [
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is grpc, which is not supported; set "
          + "RIDEPULSE_OTLP_URL to the collector's port for HTTP, such as http://127.0.0.1:4318"
      ])
  }

  private static let headers: [(String, [String], Int)] = [
    ("api-key=s3cret", ["api-key: s3cret"], 0),
    (" Authorization = Bearer%20x%3D , b=c", ["authorization: Bearer x=", "b: c"], 0),
    ("a=b=c,", ["a: b=c"], 0), ("nothing", [], 1), ("a=b%0d%0aevil: 1", [], 1), ("a=%zz", [], 1),
    ("a b=c", [], 1), ("=c", [], 1), ("", [], 0),
  ]

  @Test(arguments: headers.indices)
  func `headers are pairs whose values are percent-encoded`(index: Int) throws {
    let (text, expected, warnings) = Self.headers[index]
    let variables = try read([Self.own: "http://c", "OTEL_EXPORTER_OTLP_HEADERS": text])
    #expect(variables.target?.headers == expected && variables.warnings.count == warnings)
    let traces = try read([
      Self.own: "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "a=general",
      "OTEL_EXPORTER_OTLP_TRACES_HEADERS": text,
    ])
    #expect(traces.target?.headers == (text.isEmpty ? ["a: general"] : expected))
  }

  private static let resources: [([String: String], [String: String])] = [
    ([:], ["service.name": "ridepulse"]),
    (["OTEL_SERVICE_NAME": "rides"], ["service.name": "rides"]),
    (
      ["OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment.environment.name=pr%C3%BCf"],
      ["service.name": "a", "deployment.environment.name": "prüf"]
    ),
    (
      ["OTEL_SERVICE_NAME": "b", "OTEL_RESOURCE_ATTRIBUTES": "service.name=a"],
      ["service.name": "b"]
    ),
    (["OTEL_RESOURCE_ATTRIBUTES": "a=1,broken"], ["service.name": "ridepulse"]),
  ]

  @Test(arguments: resources.indices)
  func `the resource names the service`(index: Int) throws {
    let (environment, expected) = Self.resources[index]
    let variables = try read(environment.merging([Self.own: "http://c"]) { $1 })
    let own = ["service.version": Version.text, "service.instance.id": "node-1"]
    let attributes = expected.merging(own) { $1 }.sorted { $0.key < $1.key }
      .map { TraceSpan.Attribute($0.key, $0.value) }
    #expect(variables.target?.resource == attributes)
    #expect(variables.warnings.isEmpty != (environment.values.contains { $0.contains("broken") }))
  }
}
