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
      ("/v1/rides/{id}", "/v1/rides/a%2Fb%20%C3%A4", ["id": "a/b ä"]),
      ("/v1/{app}/{token}", "/v1/a%2f%2F/%00", ["app": "a//", "token": "\u{0}"]),
      ("/healthz", "/%68ealthz", [:]),
    ] as [(String, String, [String: String]?)])
  func `a path is a route's or not`(
    route: String, path: String, parameters: [String: String]?
  ) throws {
    let parts = try #require(Route.parts(of: path))
    #expect(Route("GET", route) { _ in .text(200, "") }.parameters(of: parts) == parameters)
  }

  @Test(arguments: ["/%FF", "/%", "/%4", "/%4x", "/a%C3", "/%ED%A0%80"])
  func `a path that is not percent-encoded UTF-8 has no parts`(path: String) {
    #expect(Route.parts(of: path) == nil)
  }
}
