import Foundation
import TestSupport
import Testing

/// The calls of `clients/kotlin` that wait, on a JVM: order, files, and what another process sends.
@Suite("Kotlin queue", .enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
struct KotlinQueueTests {
  /// Nothing listens there.
  private static let unreachable = ["http://127.0.0.1:1", "Bearer old"]

  @Test func `After 1,000 random schedules the server has what the last session has, and no more`()
    throws
  {
    try ScratchFolder.with { directory in
      let classes = try KotlinPhone.compileSchedules(in: directory)
      let result = try KotlinCompiler.run(
        "com.example.rides.SchedulesKt", ["1000"], classes: classes)
      let words = result.output.split(separator: " ").map {
        $0.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      // Schedules that register nothing would show nothing.
      #expect(
        words.first == "registered" && (words.last.flatMap(Int.init) ?? 0) > 500,
        "\(result.output)\(result.errors)")
    }
  }

  @Test func `What one process could not send the next one sends, and no file stops it`() throws {
    try ScratchFolder.with { directory in
      let classes = try KotlinPhone.compile(in: directory)
      try checkSignOut(classes, files: directory + "/a")
      try checkSamePerson(classes, files: directory + "/d")
      try checkOtherPerson(classes, files: directory + "/b")
      try checkBrokenFile(classes, files: directory + "/c")
    }
  }

  /// A sign-out without a network goes out with the header of its session, before the same person registers.
  private func checkSignOut(_ classes: [String], files: String) throws {
    _ = try KotlinPhone.live(
      ["sign-in c1 t:1", "sign-out"], classes, files: files, backend: Self.unreachable)
    let next = try KotlinPhone.live(["sign-in c1 t:1"], classes, files: files)
    let calls = next.output.split(separator: "\n").filter { $0.contains(" /v1/") }
    #expect(calls.count == 2, "\(next.output)")
    #expect(calls.first == "DELETE /v1/devices/customer/t%3A1 with Bearer old")
    #expect(calls.last?.hasPrefix("POST /v1/devices ") == true)
  }

  /// What the same person registers waits for a sign-out that failed, and may still arrive.
  private func checkSamePerson(_ classes: [String], files: String) throws {
    let phone = try KotlinPhone.live(
      ["sign-in c1 t:1", "network lost", "sign-out", "network whole", "sign-in c1 t:1", "open"],
      classes, files: files)
    let calls = phone.output.split(separator: "\n").filter { $0.contains(" /v1/devices") }
    #expect(
      calls.map { $0.prefix(6) } == ["POST /", "DELETE", "POST /"],
      "\(phone.output)\(phone.errors)")
  }

  @Test func `No sign-out is lost to an app whose authorization throws or blocks`() throws {
    try ScratchFolder.with { directory in
      let classes = try KotlinPhone.compile(in: directory)
      try checkThrowing(classes, files: directory)
      try checkThrowingForOther(classes, files: directory + "/c")
      try checkBlocking(classes, files: directory + "/d")
      try checkLate(classes, files: directory + "/e")
    }
  }

  /// A header that throws fails the attempt, and nothing else.
  private func checkThrowing(_ classes: [String], files: String) throws {
    let registration = try KotlinPhone.live(
      ["authorization throws", "sign-in c1 t:1", "authorization returns", "open"], classes,
      files: files + "/a")
    #expect(registration.output.contains("POST /v1/devices "), "\(registration.output)")
    #expect(registration.errors.contains("REPEATED phone: "), "\(registration.errors)")
    let withdrawal = try KotlinPhone.live(
      ["sign-in c1 t:1", "authorization throws", "sign-out", "authorization returns", "open"],
      classes, files: files + "/b")
    #expect(withdrawal.output.contains("DELETE /v1/devices/customer/t%3A1"), "\(withdrawal.output)")
    #expect(!withdrawal.output.contains("/v1/contact"), "\(withdrawal.output)")
    #expect(withdrawal.errors.contains("THREW authorization: "), "\(withdrawal.errors)")
  }

  /// The next person is registered, and nothing more is sent for the one before.
  private func checkThrowingForOther(_ classes: [String], files: String) throws {
    let phone = try KotlinPhone.live(
      [
        "sign-in c1 t:1", "authorization throws", "sign-out", "sign-in c2 t:1",
        "authorization returns", "open",
      ], classes, files: files)
    let owners = phone.output.split(separator: "\n").filter { $0.hasPrefix("POST /v1/devices") }
    #expect(owners.count == 2, "\(phone.output)")
    #expect(owners.last?.contains("owner_id=c2") == true, "\(phone.output)")
  }

  /// The sign-out is over after 5 s, and stored: another process sends it.
  private func checkBlocking(_ classes: [String], files: String) throws {
    let phone = try KotlinPhone.live(
      ["sign-in c1 t:1", "authorization waits", "leave"], classes, files: files)
    #expect(phone.output.contains("\nover\n"), "\(phone.output)")
    #expect(!phone.output.contains("DELETE"), "\(phone.output)")
    // Once for the registration, and once for the sign-out.
    let asked = phone.errors.split(separator: "\n").count { $0.contains("the header of c1") }
    #expect(asked == 2, "\(phone.errors)")
    let next = try KotlinPhone.live(["open"], classes, files: files)
    #expect(next.output.contains("DELETE /v1/devices/customer/t%3A1"), "\(next.output)")
    #expect(!next.output.contains("/v1/contact"), "\(next.output)")
  }

  /// A header that comes late is stored with the sign-out.
  private func checkLate(_ classes: [String], files: String) throws {
    _ = try KotlinPhone.live(
      ["sign-in c1 t:1", "authorization waits", "leave", "authorization returns"], classes,
      files: files, backend: Self.unreachable)
    let next = try KotlinPhone.live(["open"], classes, files: files)
    #expect(
      next.output.contains("DELETE /v1/devices/customer/t%3A1 with Bearer old"), "\(next.output)")
  }

  /// What waits is dropped with its session; a receipt of the session that goes on is not.
  private func checkOtherPerson(_ classes: [String], files: String) throws {
    let alert =
      #"message {"data":{"rp_kind":"alert","rp_id":"a1","rp_ts":"9","rp_tag":"a","rp_title":"T"}}"#
    _ = try KotlinPhone.live(
      ["sign-in c1 t:1", alert], classes, files: files, backend: Self.unreachable)
    let same = try KotlinPhone.live(["open"], classes, files: files)
    #expect(same.output.contains("POST /v1/seen apns_id=a1"))
    #expect(same.output.contains("owner_id=c1"))
    #expect(same.output.contains("POST /v1/contact"))
    let other = try KotlinPhone.live(
      [alert.replacing("a1", with: "a2"), "sign-in c2 t:1"], classes, files: files,
      backend: Self.unreachable)
    #expect(other.errors.contains("DROPPED seen a2: signed out"))
    // The sign-out of the first person is not sent behind the registration of the second.
    let last = try KotlinPhone.live(["open"], classes, files: files)
    #expect(last.output.contains("owner_id=c2"))
    #expect(!last.output.contains("owner_id=c1") && !last.output.contains("DELETE"))
    #expect(!last.output.contains("/v1/seen"))
    #expect(last.errors.contains("DROPPED sign-out: another person is registered"))
  }

  /// A file that is no queue, half of one, or one of another version is moved aside.
  private func checkBrokenFile(_ classes: [String], files: String) throws {
    _ = try KotlinPhone.live(
      ["sign-in c1 t:1"], classes, files: files, backend: Self.unreachable)
    let queue = files + "/ridepulse/queue.json"
    let stored = try String(contentsOfFile: queue, encoding: .utf8)
    for text in [
      "", "{", String(stored.prefix(stored.count / 2)), #"{"version":9}"#,
      stored.replacing("PHONE", with: "FUTURE"),
    ] {
      try text.write(toFile: queue, atomically: true, encoding: .utf8)
      let phone = try KotlinPhone.live(["sign-in c1 t:1"], classes, files: files)
      #expect(phone.errors.contains("BROKEN_FILE"), "\(text)")
      #expect(phone.output.contains("POST /v1/devices"), "\(text)")
      #expect(
        try String(contentsOfFile: files + "/ridepulse/queue.broken.json", encoding: .utf8) == text)
    }
  }
}
