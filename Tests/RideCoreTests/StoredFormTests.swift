import Foundation
import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// The JSON of each kind of state as 0.1.0 stored it. `PersistedJSONTests` has the present forms.
///
/// These files are never recorded again: a decoder that can't read one, or loses a member of it,
/// breaks docs/compatibility.md.
@Suite("States that 0.1.0 stored") struct StoredFormTests {
  private static func text(_ name: String) throws -> String {
    let file = Project.path("Tests/Compatibility/0.1.0/memos/\(name).json")
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  private static func restored<Value: StoredValue>(_ type: Value.Type, _ name: String) throws
    -> String
  {
    try JSONText.normalized(Data(Value(storedText: text(name)).storedText.utf8))
  }

  @Test(arguments: [
    "memo-android", "memo-card", "memo-condition", "memo-emits", "memo-part", "memo-slot",
    "memo-start", "memo-unrepeatable", "memo-waiting",
  ])
  func `memos are read, and nothing of them is lost`(name: String) throws {
    #expect(try Self.restored(Memo.self, name) == Self.text(name))
  }

  @Test func `problems of phones are read`() throws {
    #expect(try Self.restored(PhoneProblem.self, "phone-problem") == Self.text("phone-problem"))
  }

  @Test(
    arguments: [
      ("legacy-push", RawPush.Source.legacy), ("raw-push", .push), ("raw-broadcast", .broadcast),
    ])
  func `raw pushes that wait are read`(name: String, source: RawPush.Source) throws {
    var text = try Self.text(name)
    // Postgres adds the ID of a legacy push when it commits the event.
    if source == .legacy {
      text = text.replacing(
        "{\n", with: "{\n  \"apns_id\" : \"\(PushID(of: "committed"))\",\n", maxReplacements: 1)
    }
    let event = RideEvent(
      id: 1, name: source.event, at: Timestamp(epochSeconds: 1_800_000_000), data: text)
    let read = try #require(RawPush.read(event, from: source))
    #expect(try JSONText.normalized(Data(read.push.eventData.utf8)) == Self.text(name))
  }
}
