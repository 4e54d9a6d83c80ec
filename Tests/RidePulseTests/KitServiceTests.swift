import Base
import Foundation
import LocalStack
import TestSupport
import Testing

/// RidePulseKit against a real service, with kills and holes in the network.
@Suite(.timeLimit(.minutes(60))) struct KitServiceTests {
  private static let phones = """
    select string_agg(owner_id || ' ' || right(token, 4), ',' order by owner_id, token)
    from ridepulse.devices where disabled_at is null
    """
  private static let starts = """
    select string_agg(owner_id || ' ' || right(token, 4), ',' order by owner_id, token)
    from ridepulse.push_to_start_tokens where disabled_at is null
    """

  @Test func `R96: After kills and holes the service has what the last session has, and no more`()
    async throws
  {
    try await Stage.run { stage in
      let binary = try KitPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      for seed in TestSeed.values(8) {
        var user = KitUser(
          binary, [api.url, api.token ?? "", "\(stage.directory)/queue"], seed: seed)
        try user.start()
        for _ in 0..<25 { try user.step() }
        let owner = try user.settle()
        try await stage.until(
          "select coalesce((\(Self.phones)), '')", is: owner.map { "\($0) 9999" } ?? "")
        try await stage.until(
          "select coalesce((\(Self.starts)), '')", is: owner.map { "\($0) 7777" } ?? "")
        try await stage.until(
          """
          select count(*) from ridepulse.live_activities
          where ended_at is null and owner_id <> '\(owner ?? "")'
          """, is: "0")
        user.stop()
      }
    }
  }
}

/// Somebody who uses a `KitPhone`, at random.
private struct KitUser {
  private let binary: String
  private let arguments: [String]
  private var chance: SeededGenerator
  private var phone: LineProcess?
  private var owner: String?
  private var rides = 0

  init(_ binary: String, _ arguments: [String], seed: UInt64) {
    (self.binary, self.arguments) = (binary, arguments)
    chance = SeededGenerator(seed: seed)
  }

  mutating func start() throws { phone = try LineProcess(binary, arguments) }

  func stop() { phone?.stop() }

  private func write(_ line: String) throws { try phone?.write(line) }

  private mutating func byte() -> String {
    String(UInt8.random(in: 16...255, using: &chance), radix: 16)
  }

  mutating func step() throws {
    switch Int.random(in: 0..<8, using: &chance) {
    case 0:
      let hole = ["whole", "lost", "unanswered"].randomElement(using: &chance)
      try write("network \(hole ?? "")")
    case 1: try signIn(["c1", "c2", "c3"].randomElement(using: &chance))
    case 2:
      if owner != nil { try write("sign-out") }
      owner = nil
    case 3: try write("device-token \(byte())")
    case 4: try write("start-token \(byte())")
    case 5:
      rides += 1
      try write("book r\(rides)")
      try write("card-token activity-\(Int.random(in: 1...3, using: &chance)) \(byte())")
    case 6: try kill()
    default: try write("active")
    }
  }

  private mutating func signIn(_ next: String?) throws {
    owner = next
    try write("sign-in \(next ?? "")")
  }

  /// Ends the app in the middle of what it does, and starts it again.
  private mutating func kill() throws {
    _ = phone?.terminate()
    try start()
    if Bool.random(using: &chance) { try write("network lost") }
    if owner != nil {
      try signIn(owner)
      try write("device-token \(byte())")
    }
  }

  /// Gives the phone its network and its last tokens; returns who is signed in.
  mutating func settle() throws -> String? {
    try write("network whole")
    // A kill may have come before the sign-out: the app does it again.
    let last = owner
    if last == nil { try signIn("c1") }
    try write("device-token 99")
    try write("start-token 77")
    if last == nil { try write("sign-out") }
    try write("active")
    return last
  }
}
