/// What the admin server asks the service, and tells it.
package struct AdminQueries: Sendable {
  /// What hinders the service from doing its work; empty where nothing does.
  package var problems: @Sendable () -> [String]
  /// Looks for due rides at once; returns the line that says so.
  package var wake: @Sendable () async -> String

  /// A desk of these.
  package init(
    problems: @escaping @Sendable () -> [String], wake: @escaping @Sendable () async -> String
  ) {
    self.problems = problems
    self.wake = wake
  }
}

/// Health of the service, a door to wake it, and whatever else it is given, over HTTP.
package final class AdminServer: Sendable {
  private let server: HTTPServer

  /// Where it listens.
  package var port: UInt16 { server.port }

  /// Listens from now on.
  ///
  /// - Parameters:
  ///   - token: what writing calls must bring as `Authorization: Bearer …`; without one they are
  ///     refused.
  ///   - routes: what it does besides health and waking.
  /// - Throws: `ListenError`.
  package init(
    _ address: ListenAddress, token: String?, queries: AdminQueries, routes: [Route] = []
  ) throws(ListenError) {
    let routes = Self.own(queries) + routes
    let hosts = HostGuard(address)
    server = try HTTPServer(address) { request in
      guard hosts.admits(request.headers["host"]) else {
        return .text(421, "this server is called 127.0.0.1 or localhost; so must Host say")
      }
      let answer = await Self.answer(
        request, token: token, isLoopback: address.isLoopback, routes)
      return answer.inForm(of: request.path)
    }
  }

  /// What monitors ask; it is answered at once, also while too many other requests are.
  static let vitalPaths: Set = ["/healthz", "/readyz"]

  /// Answers no more.
  package func stop() { server.stop() }

  private static func own(_ queries: AdminQueries) -> [Route] {
    [
      Route("GET", "/healthz") { _ in .text(200, "ok") },
      Route("GET", "/readyz") { _ in
        let problems = queries.problems()
        return problems.isEmpty
          ? .text(200, "ready") : .text(503, problems.joined(separator: "\n"))
      },
      Route("POST", "/wake", isWriting: true) { _ in .text(200, await queries.wake()) },
    ]
  }

  private static func answer(
    _ request: HTTPRequest, token: String?, isLoopback: Bool, _ routes: [Route]
  ) async -> HTTPResponse {
    let found = routes.compactMap { route in
      route.parameters(of: request.path).map { (route, $0) }
    }
    guard let (route, parameters) = found.first(where: { $0.0.method == request.method }) else {
      return found.isEmpty ? notFound(routes) : notAllowed(found.map(\.0.method))
    }
    let isOpen = isLoopback && token?.isEmpty ?? true
    let isGuarded = route.isWriting || (route.isPrivate && !isOpen)
    if isGuarded, let refusal = refusal(of: request, token: token) { return refusal }
    var request = request
    request.parameters = parameters
    return await route.handler(request)
  }

  private static func notFound(_ routes: [Route]) -> HTTPResponse {
    let paths = Set(routes.map(\.path)).sorted()
    return .text(404, "no such page; there are \(paths.joined(separator: ", "))")
  }

  private static func notAllowed(_ methods: [String]) -> HTTPResponse {
    let methods = methods.sorted().joined(separator: ", ")
    var response = HTTPResponse.text(405, "use \(methods)")
    response.headers["Allow"] = methods
    return response
  }

  /// Why a writing call is refused; nil where it may go on.
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

  /// Takes as long for a wrong text as for the right one, so that nobody can feel their way to it.
  static func isEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    var difference: UInt8 = left.count == right.count ? 0 : 1
    for index in right.indices {
      difference |= right[index] ^ (left.isEmpty ? 0 : left[index % left.count])
    }
    return difference == 0
  }
}
