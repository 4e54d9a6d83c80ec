import Foundation
import Synchronization
import SystemSupport
import Testing

@testable import PushClient

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

  @Test func `connections that open at the same time load one store`() throws {
    let fixtures = try Fixtures.shared.get()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(contentsOf: URL(fileURLWithPath: fixtures.path("ca.pem"))).write(to: file)
    // A comment makes a text that no other test has loaded.
    try (String(contentsOf: file, encoding: .utf8) + file.path)
      .write(to: file, atomically: true, encoding: .utf8)
    let path = file.path
    let (stores, ready) = (Stores(), DispatchSemaphore(value: 0))
    let go = DispatchSemaphore(value: 0)
    let threads = try (0..<4).map { _ in
      try #require(
        WorkerThread {
          ready.signal()
          go.wait()
          if let store = try? TrustedAuthorities.identity(adding: path) { stores.add(store) }
        })
    }
    for _ in threads { ready.wait() }
    for _ in threads { go.signal() }
    for thread in threads { thread.join() }
    #expect(stores.count == 1)
  }

  @Test(arguments: ["/nonexistent/ca.pem", "/etc/hostname"])
  func `a file without certificates is refused with its path`(path: String) throws {
    let failure = #expect(throws: TrustedAuthorities.LoadError.self) {
      try TrustedAuthorities.identity(adding: path)
    }
    #expect(failure?.text.hasPrefix("can't load certificate authorities from \(path): ") == true)
  }

  private final class Stores: Sendable {
    private let all = Mutex<Set<ObjectIdentifier>>([])
    var count: Int { all.withLock { $0.count } }
    func add(_ store: ObjectIdentifier) { all.withLock { _ = $0.insert(store) } }
  }
}
