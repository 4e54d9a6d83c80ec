import Foundation
import Testing

@testable import RidePulseKit

/// iOS starts an app also before the phone's first unlock, when its files are there and can't be read. Here a
/// folder in the place of the file does that.
@Suite final class LockedPhoneTests {
  private let backend = TestBackend()
  private let events = RidePulseClientTests.Events()
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ridepulse-kit-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var file: URL { folder.appendingPathComponent("queue.json") }
  private var content: URL { folder.appendingPathComponent("content") }

  private func lock() throws {
    try FileManager.default.moveItem(at: file, to: content)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
  }

  private func unlock() throws {
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: content, to: file)
  }

  private func configuration(_ installation: String? = "i1") -> KitConfiguration {
    KitConfiguration(
      app: "customer", backend: "https://example.com", folder: folder, installation: installation,
      environment: .production, authorization: { ["Authorization": "Bearer \($0)"] },
      onEvent: { [events] in events.add($0) })
  }

  private func client(_ installation: String? = "i1") -> RidePulseClient {
    RidePulseClient(
      configuration(installation), transport: backend,
      surroundings: Surroundings(
        jitter: { 0 },
        sleep: { _ in for await _ in AsyncStream.makeStream(of: Never.self).stream {} }))
  }

  /// Registers anna's phone, and leaves a card that has no network and a receipt.
  private func prepare() async throws {
    let client = client()
    await client.signIn("anna")
    await client.phone(token: Data([1]))
    await client.flush(within: .seconds(20))
    backend.answers { _ in throw URLError(.notConnectedToInternet) }
    await client.card("A1", ride: "r1", token: Data([2]), isFrequent: true)
    await client.flush(within: .seconds(20))
    await ReceiptReporter(configuration(), transport: backend)
      .report("3c73e4aa-6652-4016-b15c-6e64ca4ee44d", within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 200) }
  }

  @Test func `A file that can't be read yet stays, and nothing is sent until it can`() async throws
  {
    try await prepare()
    try lock()
    let sent = backend.lines.count
    let locked = client(nil)
    await locked.signIn("anna")
    await locked.card("A2", ride: "r2", token: Data([3]), isFrequent: true)
    await locked.flush(within: .seconds(20))
    await ReceiptReporter(configuration(), transport: backend)
      .report("3c73e4aa-6652-4016-b15c-6e64ca4ee44e", within: .seconds(20))
    #expect(backend.lines.count == sent)
    #expect(events.all.contains { if case .notRead = $0 { true } else { false } })
    try unlock()
    await locked.hurry()
    await locked.flush(within: .seconds(20))
    #expect(
      backend.lines.dropFirst(sent).sorted() == [
        "POST /v1/live-activities", "POST /v1/live-activities", "POST /v1/seen",
      ])
    let late = try #require(backend.requests.last { $0.url.path == "/v1/live-activities" })
    #expect(String(decoding: late.body ?? Data(), as: UTF8.self).contains(#""i1""#))
    #expect(!events.all.contains { if case .brokenFile = $0 { true } else { false } })
  }

  @Test func `A sign-out before the file can be read is sent when it can`() async throws {
    try await prepare()
    try lock()
    let sent = backend.lines.count
    let locked = client()
    await locked.signOut()
    #expect(backend.lines.count == sent)
    try unlock()
    await locked.hurry()
    await locked.flush(within: .seconds(20))
    #expect(backend.lines.dropFirst(sent) == ["DELETE /v1/devices/customer/01"])
    #expect(backend.requests.last?.headers["Authorization"] == "Bearer anna")
  }

  @Test func `A receipt is of its person, also when the numbers of sessions begin again`()
    async throws
  {
    try await prepare()
    try Data("{".utf8).write(to: file)
    let client = client()
    await client.signIn("ben")
    await client.flush(within: .seconds(20))
    #expect(backend.lines.filter { $0 == "POST /v1/seen" }.count == 1)
    #expect(
      events.all.contains(.dropped("seen 3c73e4aa-6652-4016-b15c-6e64ca4ee44d", "signed out")))
  }

  @Test func `A receipt that can't be read yet stays`() throws {
    let receipt = folder.appendingPathComponent("seen/3c73e4aa-6652-4016-b15c-6e64ca4ee44d.json")
    try FileManager.default.createDirectory(at: receipt, withIntermediateDirectories: true)
    #expect(ReceiptFolder(folder: folder).all().isEmpty)
    #expect(FileManager.default.fileExists(atPath: receipt.path))
  }
}
