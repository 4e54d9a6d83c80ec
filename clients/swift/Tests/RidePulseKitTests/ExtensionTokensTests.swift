import Foundation
import Testing

@testable import RidePulseKit

/// The tokens of widgets and controls, which iOS gives to the widget extension.
@Suite final class ExtensionTokensTests {
  private let backend = TestBackend()
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ridepulse-kit-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func client() -> RidePulseClient {
    RidePulseClient(
      KitConfiguration(
        app: "customer", backend: "https://example.com/push", folder: folder, installation: "i1",
        environment: .sandbox, authorization: { _ in [:] }, onEvent: { _ in }),
      transport: backend,
      // A pause never ends by itself.
      surroundings: Surroundings(
        sleep: { _ in for await _ in AsyncStream.makeStream(of: Never.self).stream {} }))
  }

  private func requests(_ client: RidePulseClient) async -> [String] {
    let before = backend.requests.count
    await client.hurry()
    await client.flush(within: .seconds(20))
    return backend.requests.dropFirst(before).map { request in
      let body = request.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
      let token = body.components(separatedBy: "\"token\":\"").last?.prefix(2) ?? ""
      return "\(request.method) \(request.url.lastPathComponent) \(token)"
    }.sorted()
  }

  @Test
  func `The app registers what the widget extension left, once, and for the next person again`()
    async throws
  {
    let left = ExtensionTokens(folder: folder) { Issue.record("\($0)") }
    left.widgets(token: Data([0x0a]), of: "customer_widgets")
    left.controls(tokens: [Data([1]), Data([2])], of: "customer_controls")
    let client = client()
    #expect(await requests(client) == [])
    await client.signIn("anna")
    await client.flush(within: .seconds(20))
    #expect(backend.requests.count == 3)
    #expect(await requests(client) == [])
    // What waits is not reported a second time.
    backend.answers { _ in CallAnswer(status: 503) }
    left.widgets(token: Data([0x0b]), of: "customer_widgets")
    left.controls(tokens: [Data([2])], of: "customer_controls")
    #expect(await requests(client) == ["DELETE 01 ", "POST devices 0b"])
    backend.answers { _ in CallAnswer(status: 200) }
    #expect(await requests(client) == ["DELETE 01 ", "POST devices 0b"])
    #expect(await requests(client) == [])
    await client.signOut()
    await client.flush(within: .seconds(20))
    await client.signIn("ben")
    await client.flush(within: .seconds(20))
    #expect(await requests(client) == [])
    let bens = backend.requests.suffix(2).map {
      String(decoding: $0.body ?? Data(), as: UTF8.self)
    }
    #expect(bens.allSatisfy { $0.contains(#""owner_id":"ben""#) })
    #expect(backend.requests.count == 11)
  }

  @Test func `A folder that can't be written is reported`() throws {
    try Data().write(to: folder)
    let events = RidePulseClientTests.Events()
    ExtensionTokens(folder: folder, onEvent: events.add).widgets(token: Data([1]), of: "w")
    guard case .notSaved? = events.all.first else { return #expect(Bool(false)) }
  }
}
