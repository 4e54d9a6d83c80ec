import Foundation
import Testing

@testable import APNSClient

@Suite struct TrustedAuthoritiesTests {
  @Test func `one store serves all connections, until its file changes`() throws {
    let fixtures = try Fixtures.shared.get()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(contentsOf: URL(fileURLWithPath: fixtures.path("ca.pem"))).write(to: file)
    let first = try TrustedAuthorities.identity(adding: file.path)
    #expect(try TrustedAuthorities.identity(adding: file.path) == first)
    #expect(try TrustedAuthorities.identity(adding: nil) != first)
    try Data(contentsOf: URL(fileURLWithPath: fixtures.path("other-ca.pem"))).write(to: file)
    #expect(try TrustedAuthorities.identity(adding: file.path) != first)
  }

  @Test(arguments: ["/nonexistent/ca.pem", "/etc/hostname"])
  func `a file without certificates is refused with its path`(path: String) throws {
    let failure = #expect(throws: TrustedAuthorities.LoadError.self) {
      try TrustedAuthorities.identity(adding: path)
    }
    #expect(failure?.text.hasPrefix("can't load certificate authorities from \(path): ") == true)
  }
}
