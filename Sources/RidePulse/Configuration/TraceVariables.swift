import Foundation
import PushClient
import RideCore

/// Where spans are exported: `RIDEPULSE_OTLP_URL`, and OpenTelemetry's own variables.
///
/// A mistake in a variable of OpenTelemetry is a warning: pushes do not depend on it, and such
/// variables are often set for all containers of a cluster.
struct TraceVariables {
  /// Nil if no spans are made.
  private(set) var target: SpanExporter.Target?
  private(set) var warnings: [String] = []

  static let url = "RIDEPULSE_OTLP_URL"

  /// - Parameter node: The ID of the process.
  /// - Throws: `CommandFailure` that names the invalid variable or file.
  init(_ environment: [String: String], node: String) throws(CommandFailure) {
    if environment.nonEmpty("OTEL_SDK_DISABLED")?.lowercased() == "true" { return }
    guard let url = try endpoint(environment) else { return }
    target = SpanExporter.Target(
      url: url, headers: try headers(environment),
      caFile: try ServiceVariables.caFile(
        environment, Self.signal("CERTIFICATE", in: environment)),
      resource: resource(environment, node: node))
  }

  private mutating func endpoint(
    _ environment: [String: String]
  ) throws(CommandFailure) -> String? {
    if let url = environment.nonEmpty(Self.url) {
      guard let path = Self.path(of: url) else {
        throw CommandFailure("\(Self.url): \(Self.expected)")
      }
      return path.isEmpty || path == "/" ? Self.appending("v1/traces", to: url) : url
    }
    let exporters = environment.nonEmpty("OTEL_TRACES_EXPORTER")?.split(separator: ",") ?? ["otlp"]
    let name = Self.signal("ENDPOINT", in: environment)
    guard let url = environment.nonEmpty(name), exporters.contains("otlp") else { return nil }
    let protocolName = Self.signal("PROTOCOL", in: environment)
    if let text = environment.nonEmpty(protocolName), !text.hasPrefix("http/") {
      warnings.append(
        "\(protocolName) is \(text), which is not supported; set \(Self.url) to the collector's port "
          + "for HTTP, such as http://127.0.0.1:4318")
      return nil
    }
    guard let path = Self.path(of: url) else {
      warnings.append("\(name): \(Self.expected)")
      return nil
    }
    if name == Self.general("ENDPOINT") { return Self.appending("v1/traces", to: url) }
    return path.isEmpty ? url + "/" : url
  }

  private mutating func headers(
    _ environment: [String: String]
  ) throws(CommandFailure) -> [String] {
    var secret = try SecretVariable(Self.traces("HEADERS"), in: environment)
    if secret == nil { secret = try SecretVariable(Self.general("HEADERS"), in: environment) }
    guard let secret else { return [] }
    guard let pairs = Self.pairs(secret.text),
      pairs.allSatisfy({ Self.isToken($0.key) && !$0.value.utf8.contains { $0 < 32 || $0 == 127 } })
    else {
      warnings.append("\(secret.name): expected name=value, separated by commas; no header is sent")
      return []
    }
    return pairs.map { "\($0.key.lowercased()): \($0.value)" }
  }

  private mutating func resource(
    _ environment: [String: String], node: String
  ) -> [TraceSpan.Attribute] {
    let name = "OTEL_RESOURCE_ATTRIBUTES"
    var attributes: [String: String] = [:]
    if let text = environment.nonEmpty(name) {
      if let pairs = Self.pairs(text) {
        attributes = Dictionary(pairs.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
      } else {
        warnings.append("\(name): expected name=value, separated by commas; it is ignored")
      }
    }
    let own = [
      "service.name": "ridepulse", "service.version": Version.text, "service.instance.id": node,
    ]
    attributes.merge(own) { given, _ in given }
    if let service = environment.nonEmpty("OTEL_SERVICE_NAME") {
      attributes["service.name"] = service
    }
    return attributes.sorted { $0.key < $1.key }.map { TraceSpan.Attribute($0.key, $0.value) }
  }
}

extension TraceVariables {
  private static let expected =
    "expected http://HOST:PORT or https://HOST, without a user name; credentials go into "
    + "OTEL_EXPORTER_OTLP_HEADERS"

  private static func general(_ part: String) -> String { "OTEL_EXPORTER_OTLP_\(part)" }

  private static func traces(_ part: String) -> String { "OTEL_EXPORTER_OTLP_TRACES_\(part)" }

  /// Returns the name of the variable that counts: that of traces, if it is set.
  private static func signal(_ part: String, in environment: [String: String]) -> String {
    environment.nonEmpty(traces(part)) == nil ? general(part) : traces(part)
  }

  /// Returns the path of a URL, with what follows; nil for a URL that is not allowed.
  private static func path(of url: String) -> Substring? {
    guard url.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    for scheme in ["http://", "https://"] where url.lowercased().hasPrefix(scheme) {
      let rest = url.dropFirst(scheme.count)
      let authority = rest.prefix { !"/?#".contains($0) }
      if authority.isEmpty || authority.contains("@") || authority.contains("\\") { return nil }
      return rest.dropFirst(authority.count)
    }
    return nil
  }

  private static func appending(_ path: String, to url: String) -> String {
    url.hasSuffix("/") ? url + path : "\(url)/\(path)"
  }

  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        let character = Character(UnicodeScalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber)
          || "!#$%&'*+-.^_`|~".contains(character)
      }
  }

  /// Reads `name=value,name=value`, whose values are percent-encoded; nil if a part is neither.
  private static func pairs(_ text: String) -> [(key: String, value: String)]? {
    var pairs: [(key: String, value: String)] = []
    for part in text.split(separator: ",") {
      guard let equals = part.firstIndex(of: "=") else { return nil }
      let key = part[..<equals].trimmingCharacters(in: .whitespaces)
      let value = part[part.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      guard !key.isEmpty, let decoded = value.removingPercentEncoding else { return nil }
      pairs.append((key, decoded))
    }
    return pairs
  }
}
