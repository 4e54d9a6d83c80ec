import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import TestSupport
import Testing

/// The kit of `clients/kotlin` with `ridepulse serve` as its backend.
@Suite(
  "Kotlin app", .timeLimit(.minutes(60)),
  .enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
struct KotlinAppTests {
  private static let phones = """
    select string_agg(owner_id || ' ' || platform || ' ' || token || ' ' || locale, ',')
    from ridepulse.devices where disabled_at is null
    """

  @Test func `R96: the kit shows what FCM was sent: the card, and alerts that it does not cover`()
    async throws
  {
    try await Stage.run { stage in
      let classes = try KotlinPhone.compile(in: stage.directory)
      let fcm = try LocalFCMSimulator(directory: stage.directory + "/fcm")
      defer { fcm.stop() }
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', 'cQwErTyUiOpAsDfGhJkLz2', locale => 'en', platform => 'android')
        """)
      let server = try Server(stage.environment.merging(fcm.environment) { $1 })
      defer { server.stop() }
      for state in ["requested", "driver_assigned", "driver_arrived", "ride_started"] {
        try await stage.sql(
          """
          insert into ridepulse.rides (id, state, customer_id) values ('r1', '\(state)', 'c1')
          on conflict (id) do update set state = excluded.state
          """)
        try await stage.settled()
      }
      let records = try String(contentsOfFile: fcm.records, encoding: .utf8)
      let messages = records.split(separator: "\n").compactMap {
        JSONValue(json: $0.utf8)?["message"]?.text
      }
      try #require(!messages.isEmpty)
      let lines = ["sign-in c1 cQwErTyUiOpAsDfGhJkLz2"] + messages.map { "message " + $0 }
      let shown = try KotlinPhone.run(lines, classes, in: stage.directory).dropFirst()
      for (message, shown) in zip(messages, shown) {
        #expect(shown.contains { $0.hasPrefix("notify ") }, "\(message)")
      }
      let cards = shown.joined().filter { $0.contains("channel=ride_live") }
      #expect(cards.count > 2 && cards.last?.contains("style=bar 300") == true, "\(cards)")
      // FCM keeps no order, and may deliver twice: the card ends as it does in the order of sending.
      var numbers = SeededGenerator(seed: TestSeed.value(52))
      let inbox = (messages + messages).shuffled(using: &numbers).map { "message " + $0 }
      let mixed = try KotlinPhone.run([lines[0]] + inbox, classes, in: stage.directory)
      // How long it stays is counted from the moment at which it is shown.
      let stays = /, timeoutAfter=[0-9]+/
      #expect(
        mixed.joined().last { $0.contains("channel=ride_live") }?.replacing(stays, with: "")
          == cards.last?.replacing(stays, with: ""))
      // Each message that comes again is one that was shown.
      let twice = try KotlinPhone.run(lines + lines.dropFirst(), classes, in: stage.directory)
      let repeated = Array(twice.suffix(messages.count).joined())
      #expect(repeated.isEmpty)
    }
  }

  @Test func `R96: the kit registers, rotates and withdraws a phone, and reports a swipe`()
    async throws
  {
    try await Stage.run { stage in
      let classes = try KotlinPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let words = KotlinCompiler.command(
        KotlinPhone.main, [api.url, "Bearer \(api.token ?? "")"], classes: classes,
        settings: ["files=\(stage.directory)/phone", "user.language=de", "user.country=AT"])
      let phone = try LineProcess("/usr/bin/env", words)
      defer { phone.stop() }
      // A token, which moves to an installation ID: upper case counts in both.
      let token = "dQwErTyUiOpAsDfGhJkLz1:APA91bXyZ"
      try phone.write("sign-in c1 \(token)")
      try await stage.until(Self.phones, is: "c1 android \(token) de-AT")
      try phone.write("token cQwErTyUiOpAsDfGhJkLz2")
      try await stage.until(Self.phones, is: "c1 android cQwErTyUiOpAsDfGhJkLz2 de-AT")

      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1')")
      let id = try await stage.rows(
        "select id::text from ridepulse.devices where disabled_at is null")
      let card = "\(id.first?.first.flatMap { $0 } ?? "").r1"
      let data =
        #""rp_id":"1","rp_kind":"card","rp_event":"start","rp_ts":"1","rp_card":"\#(card)""#
      try phone.write(#"message {"data":{\#(data)}}"#)
      try phone.write("swipe \(card)")
      try await stage.until(
        "select string_agg(activity_id || ' ' || ended_reason, ',') from ridepulse.live_activities",
        is: "\(card) dismissed")
      try await wait(until: "the card was shown: \(phone.printed)") {
        phone.printed.contains { $0.hasPrefix("notify \(card) 1 ") }
      }

      try phone.write("sign-out")
      try await stage.until(
        """
        select string_agg(distinct disabled_reason, ',') from ridepulse.devices
        where token like 'c%'
        """, is: "signed_out")
      try await wait(until: "nothing is shown: \(phone.printed)") {
        phone.printed.contains("cancel all")
      }
    }
  }

  @Test func `R96: after kills and lost networks the service has what the last session has`()
    async throws
  {
    try await Stage.run { stage in
      let classes = try KotlinPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let words = KotlinCompiler.command(
        KotlinPhone.main, [api.url, "Bearer \(api.token ?? "")"], classes: classes,
        settings: ["files=\(stage.directory)/random", "user.language=de", "user.country=AT"])
      for seed in TestSeed.values(4) {
        var user = KotlinUser(words, seed: seed)
        try user.start()
        for _ in 0..<25 { try user.step() }
        let owner = try user.settle()
        // A service without phones also is what it was before the last lines.
        try await wait(until: "the phone has done all: \(user.printed)") { user.isDone }
        try await stage.until(
          "select coalesce((\(Self.phones)), '')",
          is: owner.map { "\($0) android cQwErTyUiOpAsDfGhJk999 de-AT" } ?? "")
        user.stop()
      }
    }
  }
}

/// Somebody who uses a phone with the kit of `clients/kotlin`, at random.
private struct KotlinUser {
  private let words: [String]
  private var chance: SeededGenerator
  private var phone: LineProcess?
  private var owner: String?
  /// The lines that the process was given.
  private var count = 0

  init(_ words: [String], seed: UInt64) {
    self.words = words
    chance = SeededGenerator(seed: seed)
  }

  mutating func start() throws {
    phone = try LineProcess("/usr/bin/env", words)
    count = 0
  }

  func stop() { phone?.stop() }

  var printed: [String] { phone?.printed ?? [] }

  var isDone: Bool { printed.count { $0 == "done" } == count }

  private mutating func write(_ line: String) throws {
    count += 1
    try phone?.write(line)
  }

  private mutating func token() -> String {
    "cQwErTyUiOpAsDfGhJk\(Int.random(in: 100...998, using: &chance))"
  }

  mutating func step() throws {
    switch Int.random(in: 0..<7, using: &chance) {
    case 0: try write("network \(Bool.random(using: &chance) ? "whole" : "lost")")
    case 1: try signIn(["c1", "c2", "c3"].randomElement(using: &chance) ?? "c1", token())
    case 2:
      if owner != nil { try write("sign-out") }
      owner = nil
    case 3: try write("token \(token())")
    case 4: try kill()
    default: try write("open")
    }
  }

  private mutating func signIn(_ next: String, _ token: String) throws {
    owner = next
    try write("sign-in \(next) \(token)")
  }

  /// Ends the app in the middle of what it does, and starts it again.
  private mutating func kill() throws {
    _ = phone?.terminate()
    try start()
    if Bool.random(using: &chance) { try write("network lost") }
    if let owner { try signIn(owner, token()) }
  }

  /// Gives the phone its network and its last token; returns who is signed in.
  mutating func settle() throws -> String? {
    let last = owner
    try write("network whole")
    // A kill may have come before the sign-out: the app does it again.
    try signIn(last ?? "c1", "cQwErTyUiOpAsDfGhJk999")
    if last == nil { try write("sign-out") }
    try write("open")
    return last
  }
}
