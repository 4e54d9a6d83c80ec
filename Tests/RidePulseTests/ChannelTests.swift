import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of `ridepulse channels` against the simulator, with real processes.
@Suite(.timeLimit(.minutes(60))) struct ChannelTests {
  private static let lose = #"[{"match":{"call":"create"},"action":{"close":true},"times":1}]"#

  @Test func `R31: a channel is created, read, listed and deleted`() async throws {
    try await Stage.run { stage in
      let id = try stage.create("--storage", "latest")
      let read = try stage.channels("read", id)
      #expect(
        read.output
          == "\(id) of com.example.customer (production), storage latest: ours\n")
      let list = try stage.channels("list")
      #expect(list.output.contains("\(id)  owned   latest   -     since 20"), "\(list.output)")
      #expect(
        list.output.hasSuffix("com.example.customer (production): used 1 of 10,000: 1 owned\n"))
      let deleted = try stage.channels("delete", id, "--yes")
      #expect(deleted.status == 0 && deleted.output.hasSuffix(": deleted\n"))
      let again = try stage.channels("delete", id, "--yes")
      #expect(again.status == 0 && again.output.hasSuffix(": gone already\n"))
      #expect(try stage.channels("list").output.hasSuffix("(production): used 0 of 10,000\n"))
      let records = try stage.channelRecords()
      #expect(records.allSatisfy { $0.header("apns-request-id") != nil })
    }
  }

  @Test func `R32: a channel leaked by a lost answer is listed, and deleted with --apply`()
    async throws
  {
    try await Stage.run { stage in
      let foreign = try stage.create(in: try await stage.elsewhere())
      try stage.faults(Self.lose)
      let lost = try stage.channels("create", "--ride", "r1", "--storage", "latest")
      #expect(lost.status == 1 && lost.errors.contains("no answer, so the outcome is unknown"))
      #expect(lost.errors.contains("channels reconcile"))
      let owned = try stage.create("--ride", "r1", "--storage", "latest")

      let list = try stage.standings()
      #expect(list[owned] == "owned" && list[foreign] == "foreign")
      let leaked = try #require(list.first { $0.value == "leaked" }?.key)
      #expect(list.count == 3)
      let table = try stage.channels("list").output
      #expect(table.contains("used 3 of 10,000: 1 owned, 1 leaked, 1 foreign"), "\(table)")
      #expect(table.contains("; 1 create had no answer then"), "\(table)")

      let looked = try stage.channels("reconcile")
      #expect(looked.status == 2 && looked.output.contains("--apply deletes leaked channels"))
      #expect(try stage.atApple().count == 3, "without --apply nothing is deleted")
      let cleared = try stage.channels("reconcile", "--apply")
      #expect(cleared.status == 0 && cleared.output.hasSuffix("1 channel deleted\n"))
      #expect(try stage.atApple() == [owned, foreign].sorted())
      #expect(try stage.standings() == [owned: "owned", foreign: "foreign"])
      #expect(!(try stage.atApple().contains(leaked)))
      let posts = try stage.channelRecords().count { $0.text("call") == "create" }
      #expect(posts == 3, "one of the other service, one lost, one more because somebody asked")
    }
  }

  @Test func `R32: two unknown channels and one lost create: none is deleted`() async throws {
    try await Stage.run { stage in
      _ = try stage.channels("list")
      let elsewhere = try await stage.elsewhere()
      try stage.faults(Self.lose)
      // Both were created within the minute in which a lost create may still take effect.
      _ = try stage.channels("create")
      let strange = try stage.create(in: elsewhere)
      let standings = try stage.standings()
      #expect(standings.count == 2 && Set(standings.values) == ["unclear"], "\(standings)")
      let cleared = try stage.channels("reconcile", "--apply")
      #expect(cleared.status == 2 && cleared.output.contains("but more channels appeared"))
      #expect(try stage.atApple().count == 2 && stage.atApple().contains(strange))
    }
  }

  @Test func `R32: an abandoned channel that still exists is deleted`() async throws {
    try await Stage.run { stage in
      let id = try stage.create("--ride", "r1")
      try await stage.sql(
        "update ridepulse.channels set ended_at = now(), ended_reason = 'the ride is over'")
      #expect(try stage.standings() == [id: "leaked"])
      #expect(try stage.channels("list").output.contains(": the ride is over"))
      #expect(try stage.channels("reconcile", "--apply").status == 0)
      #expect(try stage.atApple().isEmpty)
    }
  }

  @Test func `A row whose channel is gone is reported as missing, and abandoned with --apply`()
    async throws
  {
    try await Stage.run { stage in
      let id = try stage.create()
      try await stage.deleteElsewhere(id)
      #expect(try stage.standings() == [id: "missing"])
      #expect(try stage.channels("reconcile").status == 2)
      _ = try stage.channels("reconcile", "--apply")
      #expect(try stage.standings().isEmpty)
      #expect(try await stage.value("select ended_reason from ridepulse.channels") == "gone")
    }
  }

  @Test func `A channel in use is not deleted, and none without confirmation`() async throws {
    try await Stage.run { stage in
      let id = try stage.create("--ride", "r1")
      try await stage.sql("insert into ridepulse.rides (id, state) values ('r1', 'ride_started')")
      let used = try stage.channels("delete", id, "--yes")
      #expect(used.status == 1 && used.errors.contains("ride r1 is not over"))
      try await stage.sql(
        "update ridepulse.rides set state = 'ride_completed'; delete from ridepulse.events")
      let unasked = try stage.channels("delete", id)
      #expect(unasked.status == 64 && unasked.errors.contains("--yes"))
      #expect(try stage.atApple() == [id])
      #expect(try stage.channels("delete", id, "--yes").status == 0)
      #expect(try stage.atApple().isEmpty)
    }
  }

  @Test func `A ride gets one channel, however often it is requested`() async throws {
    try await Stage.run { stage in
      let id = try stage.create("--ride", "r1")
      let again = try stage.channels("create", "--ride", "r1", "--format", "json")
      let object = JSONValue(json: again.output.utf8)
      #expect(object?.value(at: ["channel"]) == .string(id))
      #expect(object?.value(at: ["result"]) == .string("the ride has it already"))
      #expect(try stage.atApple() == [id])
    }
  }

  @Test(arguments: [
    (400, "BroadcastFeatureNotEnabled", ["Broadcast Capability", "developer portal"]),
    (400, "CannotCreateChannelConfig", ["10,000 channels", "reconcile --apply"]),
    (403, "InvalidProviderToken", ["APNS_KEY_ID", "APNS_TEAM_ID"]),
    (429, "TooManyRequests", ["wait some minutes"]),
  ])
  func `Apple's reason is explained, with a fix`(
    status: Int, reason: String, words: [String]
  ) async throws {
    try await Stage.run { stage in
      try stage.faults(
        #"[{"match":{"call":"create"},"action":{"answer":{"status":\#(status),"#
          + #""reason":"\#(reason)"}}}]"#)
      let result = try stage.channels("create")
      #expect(result.status == 1 && result.errors.contains("\(status) \(reason)"))
      for word in words { #expect(result.errors.contains(word), "\(result.errors)") }
      #expect(try await stage.value("select ended_reason from ridepulse.channels") == reason)
    }
  }

  private static let mistakes: [([String], [String])] = [
    (["crate"], ["WORD crate is not one of create", "did you mean create?"]),
    (["list"], ["--app APP is missing"]),
    (["list", "--app", "custmer"], ["APNS_CUSTMER_BUNDLE_ID", "did you mean customer?"]),
    (["list", "--app", "customer", "--environment", "sandbx"], ["did you mean sandbox?"]),
    (["create", "--app", "customer", "--storage", "latst"], ["did you mean latest?"]),
    (["list", "--app", "customer", "--format", "jsn"], ["did you mean json?"]),
    (["read", "--app", "customer"], ["CHANNEL is missing"]),
    (["read", "a b", "--app", "customer"], ["a b is not a channel ID"]),
    (["list", "YQ==", "--app", "customer"], ["unexpected word YQ=="]),
    (["list", "--app", "customer", "--apply"], ["--apply belongs to reconcile"]),
    (["delete", "YQ==", "--app", "customer", "--ride", "r1"], ["belong to create"]),
  ]

  @Test(arguments: mistakes.indices)
  func `A mistake gets one message`(index: Int) throws {
    let (words, expected) = Self.mistakes[index]
    let result = try Command.ridepulse(
      ["channels"] + words, ["APNS_CUSTOMER_BUNDLE_ID": "com.example.customer"])
    #expect(result.status == 64 && result.output.isEmpty)
    for text in expected { #expect(result.errors.contains(text), "\(result.errors)") }
  }
}

extension Stage {
  func channels(_ words: String...) throws -> Tool {
    try Command.ridepulse(["channels"] + words + ["--app", "customer"], environment)
  }

  /// Creates a channel; returns its ID.
  func create(_ words: String...) throws -> String {
    let result = try Command.ridepulse(
      ["channels", "create", "--app", "customer"] + words, environment)
    guard let id = result.output.split(separator: " ").first, result.status == 0 else {
      throw TestFailure("no channel: \(result.errors)")
    }
    return String(id)
  }

  /// Returns the environment of another service for the same app, with a database of its own.
  fileprivate func elsewhere() async throws -> [String: String] {
    let other = try await LocalCluster.shared().freshDatabase()
    let environment = environment.merging(["DATABASE_URL": other]) { $1 }
    _ = try Command.ridepulse(["migrate"], environment)
    return environment
  }

  func create(in elsewhere: [String: String]) throws -> String {
    let result = try Command.ridepulse(["channels", "create", "--app", "customer"], elsewhere)
    guard let id = result.output.split(separator: " ").first else {
      throw TestFailure("no channel: \(result.errors)")
    }
    return String(id)
  }

  func deleteElsewhere(_ id: String) async throws {
    let result = try Command.ridepulse(
      ["channels", "delete", id, "--yes", "--app", "customer"], try await elsewhere())
    if result.status != 0 { throw TestFailure(result.errors) }
  }

  /// Returns the status of each channel in `channels list`.
  func standings() throws -> [String: String] {
    let result = try channels("list", "--format", "json")
    guard case .array(let list) = JSONValue(json: result.output.utf8)?.value(at: ["channels"])
    else { throw TestFailure("no list: \(result.errors)") }
    let pairs = list.map { entry -> (String, String) in
      func text(_ name: String) -> String {
        if case .string(let text) = entry.value(at: [name]) { text } else { "" }
      }
      return (text("channel"), text("status"))
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Returns the channels that exist in the simulator, read from its state file.
  func atApple() throws -> [String] {
    let data = try Data(contentsOf: URL(fileURLWithPath: directory + "/channels.json"))
    guard case .object(let all) = JSONValue(json: Array(data))?.value(at: ["com.example.customer"])
    else {
      return []
    }
    return all.filter { $0.value.value(at: ["deleted"]) == .bool(false) }.keys.sorted()
  }

  func channelRecords() throws -> [Arrival] {
    let text = try String(contentsOfFile: directory + "/channels.jsonl", encoding: .utf8)
    return text.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }.map(Arrival.init)
  }
}
