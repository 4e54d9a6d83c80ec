import Testing

@testable import AdminServer

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("localhost", true),
    ("127.example.com", false), ("127.0.0.1.example.com", false), ("127.0.0.256", false),
    ("0.0.0.0", false), ("::", false), ("10.0.0.1", false), ("localhost.example.com", false),
  ])
  func `only this machine reaches a loopback address`(host: String, isLoopback: Bool) {
    #expect(ListenAddress(host: host, port: 0).isLoopback == isLoopback)
  }
}

@Suite struct RouteTests {
  @Test(
    arguments: [
      ("/v1/rides/{id}/explain", "/v1/rides/r1/explain", ["id": "r1"]),
      ("/v1/rides/{id}/explain", "/v1/rides//explain", nil),
      ("/v1/rides/{id}/explain", "/v1/rides/r1", nil), ("/healthz", "/healthz", [:]),
      ("/healthz", "/healthz/", nil), ("/", "/", [:]), ("/", "/x", nil),
    ] as [(String, String, [String: String]?)])
  func `a path is a route's or not`(route: String, path: String, parameters: [String: String]?) {
    #expect(Route("GET", route) { _ in .text(200, "") }.parameters(of: path) == parameters)
  }
}
