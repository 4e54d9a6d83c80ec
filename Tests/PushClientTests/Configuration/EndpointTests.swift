import RideCore
import Testing

@testable import PushClient

@Suite struct EndpointTests {
  @Test(
    "https, a host and perhaps a port",
    arguments: [
      ("https://api.push.apple.com", "https://api.push.apple.com:443", "api.push.apple.com"),
      ("https://api.push.apple.com:443/", "https://api.push.apple.com:443", "api.push.apple.com"),
      ("https://localhost:2197", "https://localhost:2197", "localhost:2197"),
      ("https://[::1]:2197", "https://[::1]:2197", "[::1]:2197"),
    ])
  func good(url: String, shown: String, authority: String) throws {
    let endpoint = try APNsEndpoint(url)
    #expect(endpoint.description == shown)
    #expect(endpoint.authority == authority)
  }

  @Test(
    "Anything else is refused, and said",
    arguments: [
      ("", "it does not begin with https://"),
      ("http://api.push.apple.com", "it does not begin with https://"),
      ("api.push.apple.com:443", "it does not begin with https://"),
      ("https://", "it names no host"),
      ("https://a.example/3/device", "it has a path"),
      ("https://a.example?x=1", "it has a query or a fragment"),
      ("https://a.example:0", "its port is not 1 to 65535"),
      ("https://a.example:70000", "its port is not 1 to 65535"),
      ("https://a b", "it is not a URL"),
    ])
  func bad(url: String, problem: String) {
    let error = #expect(throws: APNsEndpointError.self) { try APNsEndpoint(url) }
    #expect(error?.problem == problem)
    #expect(
      error?.description
        == "\"\(url)\" is not an endpoint: \(problem); expected https://host or https://host:port")
  }

  @Test("A password in a URL is not shown")
  func password() {
    let error = #expect(throws: APNsEndpointError.self) {
      try APNsEndpoint("https://me:pw@a.example")
    }
    #expect(error?.description.contains("pw") == false)
  }

  @Test("Apple's hosts unless others are given")
  func defaults() throws {
    let configuration = APNsConfiguration()
    #expect(configuration.endpoint(of: .production).description == "https://api.push.apple.com:443")
    #expect(
      configuration.endpoint(of: .sandbox).description == "https://api.sandbox.push.apple.com:443")
    #expect(throws: APNsEndpointError.self) { try APNsConfiguration(sandboxURL: "http://x") }
  }

  @Test(
    "No password is shown, however broken the URL is",
    arguments: [
      "https://me:S3cret@x@a.example", "http://me:S3cret@a.example", "me:S3cret@a.example",
      "https://me:S3cret @a.example", "https://me:S3cret@", "https://me:S3cret@a.example/path",
    ])
  func hiddenPassword(url: String) {
    let error = #expect(throws: APNsEndpointError.self) { try APNsEndpoint(url) }
    #expect(error?.description.contains("S3cret") == false, "\(error as Any)")
  }
}
