package struct AdminQueries: Sendable {
  /// Returns what only a restart ends; empty if there is nothing.
  package var stalls: @Sendable () -> [String]
  /// Returns what prevents the service from doing its work; empty if it is ready.
  package var problems: @Sendable () -> [String]
  /// Returns what an operator must know of a service that may be ready, such as refused rules.
  package var notes: @Sendable () -> [String]
  /// Checks for due rides at once; returns the line to answer with.
  package var wake: @Sendable () async -> String

  package init(
    stalls: @escaping @Sendable () -> [String], problems: @escaping @Sendable () -> [String],
    notes: @escaping @Sendable () -> [String] = { [] },
    wake: @escaping @Sendable () async -> String
  ) {
    self.stalls = stalls
    self.problems = problems
    self.notes = notes
    self.wake = wake
  }
}

/// Serves health checks, the wake call and further routes over HTTP.
package final class AdminServer: Sendable {
  private let server: HTTPServer

  package var port: UInt16 { server.port }

  /// - Parameters:
  ///   - token: the token that writing calls must send as `Authorization: Bearer …`; without one
  ///     they are refused.
  ///   - routes: the routes other than health checks and waking.
  /// - Throws: `ListenError`.
  package init(
    _ address: ListenAddress, token: String?, queries: AdminQueries, routes: [Route] = []
  ) throws(ListenError) {
    let routes = Self.own(queries) + routes
    let hosts = HostGuard(address)
    server = try HTTPServer(address) { request in
      guard hosts.admits(request.headers["host"]) else {
        return .text(421, "unknown Host; this server accepts only 127.0.0.1 and localhost")
      }
      let answer = await Self.answer(
        request, token: token, isLoopback: address.isLoopback, routes)
      return answer.inForm(of: request.path)
    }
  }

  /// Paths of health checks, which are answered even while the server refuses other requests.
  static let vitalPaths: Set = ["/healthz", "/readyz"]

  package func stop() { server.stop() }

  static func own(_ queries: AdminQueries) -> [Route] {
    [
      Route("GET", "/healthz") { _ in
        let stalls = queries.stalls()
        return stalls.isEmpty ? .text(200, "ok") : .text(500, stalls.joined(separator: "\n"))
      },
      Route("GET", "/readyz") { _ in
        let problems = queries.problems()
        let lines = (problems.isEmpty ? ["ready"] : problems) + queries.notes()
        return .text(problems.isEmpty ? 200 : 503, lines.joined(separator: "\n"))
      },
      Route("POST", "/wake", isWriting: true) { _ in .text(200, await queries.wake()) },
    ]
  }

  private static func answer(
    _ request: HTTPRequest, token: String?, isLoopback: Bool, _ routes: [Route]
  ) async -> HTTPResponse {
    if let fault = request.fault { return fault.response(below: request.path) }
    guard let parts = Route.parts(of: request.path) else {
      return .text(
        400, "the path is not UTF-8 with percent-encoding; encode each part of it")
    }
    let found = routes.compactMap { route in route.parameters(of: parts).map { (route, $0) } }
    guard let (route, parameters) = found.first(where: { $0.0.method == request.method }) else {
      return found.isEmpty ? notFound(routes) : notAllowed(found.map(\.0.method))
    }
    let isOpen = isLoopback && token?.isEmpty ?? true
    let isGuarded = route.isWriting || (route.isPrivate && !isOpen)
    if isGuarded, let refusal = refusal(of: request, token: token) { return refusal }
    var request = request
    request.parameters = parameters
    if let fault = request.nul { return fault.response(below: request.path) }
    return await route.handler(request)
  }

  private static func notFound(_ routes: [Route]) -> HTTPResponse {
    let paths = Set(routes.map(\.path)).sorted()
    return .text(404, "no such page; known are \(paths.joined(separator: ", "))")
  }

  private static func notAllowed(_ methods: [String]) -> HTTPResponse {
    let methods = methods.sorted().joined(separator: ", ")
    var response = HTTPResponse.text(405, "use \(methods)")
    response.headers["Allow"] = methods
    return response
  }

  /// Returns the refusal of a guarded call; nil if its token is right.
  private static func refusal(of request: HTTPRequest, token: String?) -> HTTPResponse? {
    guard let token, !token.isEmpty else {
      return .text(403, "this call needs RIDEPULSE_ADMIN_TOKEN in the service's environment")
    }
    let given = request.headers["authorization"] ?? ""
    if isEqual(given, "Bearer " + token) { return nil }
    var response = HTTPResponse.text(401, "wrong or no token; send Authorization: Bearer TOKEN")
    response.headers["WWW-Authenticate"] = "Bearer"
    return response
  }

  /// Compares in a time that does not depend on where the texts differ, so that the token cannot be
  /// guessed byte by byte.
  static func isEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    var difference: UInt8 = left.count == right.count ? 0 : 1
    for index in right.indices {
      difference |= right[index] ^ (left.isEmpty ? 0 : left[index % left.count])
    }
    return difference == 0
  }
}

/// Checks a request's `Host` against DNS rebinding.
///
/// A foreign name that resolves to this machine would let another site's page read rides through a
/// visitor's browser. Only a server on a loopback address is guarded: any other server may
/// have names that it cannot determine.
struct HostGuard {
  private let isLocal: Bool

  init(_ address: ListenAddress) {
    isLocal = Self.isLoopback(address.host)
  }

  /// Whether a request with this `Host` is accepted; tools that send none are not browsers.
  func admits(_ host: String?) -> Bool {
    guard isLocal, let host, !host.isEmpty else { return true }
    return Self.isLoopback(Self.name(of: host))
  }

  /// Returns a host without its port and brackets.
  private static func name(of host: String) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }

  private static func isLoopback(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasSuffix(".localhost") || ListenAddress(host: name, port: 0).isLoopback
  }
}
