/// What the admin server asks the service, and tells it.
public struct AdminDesk: Sendable {
  /// What hinders the service from doing its work; empty where nothing does.
  public var troubles: @Sendable () -> [String]
  /// Looks for due rides at once; returns the line that says so.
  public var wake: @Sendable () async -> String

  /// A desk of these.
  public init(
    troubles: @escaping @Sendable () -> [String], wake: @escaping @Sendable () async -> String
  ) {
    self.troubles = troubles
    self.wake = wake
  }
}

/// Health of the service, and a door to wake it, over HTTP.
public final class AdminServer: Sendable {
  private let server: HTTPServer

  /// Where it listens.
  public var port: UInt16 { server.port }

  /// Listens from now on.
  ///
  /// - Parameter token: what writing calls must bring as `Authorization: Bearer …`; without one
  ///   they are refused.
  /// - Throws: `ListenError`.
  public init(_ address: ListenAddress, token: String?, desk: AdminDesk) throws(ListenError) {
    server = try HTTPServer(address) { await Self.answer($0, token: token, desk) }
  }

  /// Answers no more.
  public func stop() { server.stop() }

  private static func answer(_ request: HTTPRequest, token: String?, _ desk: AdminDesk) async
    -> HTTPResponse
  {
    switch (request.method, request.path) {
    case ("GET", "/healthz"): return .text(200, "ok")
    case ("GET", "/readyz"):
      let troubles = desk.troubles()
      return troubles.isEmpty
        ? .text(200, "ready") : .text(503, troubles.joined(separator: "\n"))
    case ("POST", "/wake"):
      if let refusal = refusal(of: request, token: token) { return refusal }
      return .text(200, await desk.wake())
    case (_, "/healthz"), (_, "/readyz"): return notAllowed("GET")
    case (_, "/wake"): return notAllowed("POST")
    default: return .text(404, "no such page; there are /healthz, /readyz and /wake")
    }
  }

  private static func notAllowed(_ method: String) -> HTTPResponse {
    var response = HTTPResponse.text(405, "use \(method)")
    response.headers["Allow"] = method
    return response
  }

  /// Why a writing call is refused; nil where it may go on.
  private static func refusal(of request: HTTPRequest, token: String?) -> HTTPResponse? {
    guard let token, !token.isEmpty else {
      return .text(403, "writing calls need RIDEPULSE_ADMIN_TOKEN in the service's environment")
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
