import Base
import Foundation
import PostgresStore
import RideCore
import SystemSupport
import Testing
import TestSupport
import Timeline

@testable import RidePulse

/// `RIDEPULSE_RECORD` and `ridepulse record` with real processes.
@Suite("Recording", .timeLimit(.minutes(60))) struct RecordTests {
  private static let salt = ["RIDEPULSE_RECORD_SALT": "a salt of more than 16 bytes"]

  /// Runs the demo's fleet against the stage, as fast as it can; returns what is private in it.
  ///
  /// - Parameter isStepwise: Whether each change is settled before the next one.
  private func run(
    _ fleet: inout Fleet, _ stage: Stage, isStepwise: Bool = false
  ) async throws -> [String] {
    let backend = FleetBackend(session: try PostgresSession(conninfo: stage.conninfo))
    var secrets: Set<String> = []
    var now: Duration = .zero
    while !fleet.isOver {
      now += .milliseconds(200)
      for step in fleet.steps(until: now) {
        try await backend.perform(step)
        if isStepwise { try await settleAll(stage) }
        if case .request(let ride, let customer, let driver, let attributes, _) = step {
          secrets.formUnion([ride, customer, driver])
          let value = JSONValue(json: attributes.utf8)
          for key in ["driver_name", "plate", "pickup_address"] {
            if case .string(let text)? = value?.value(at: [key]) { secrets.insert(text) }
          }
        }
      }
    }
    try await stage.settled()
    let tokens = try await stage.rows(
      """
      select token from ridepulse.devices union select token from ridepulse.live_activities
      union select token from ridepulse.push_to_start_tokens
      union select activity_id from ridepulse.live_activities
      """)
    return secrets.sorted() + tokens.compactMap(\.first).compactMap(\.self)
  }

  /// Waits until all is settled, and until a retry would have come at any random delay: a rehearsal
  /// takes the mean, and a change before that would supersede the push that waits.
  ///
  /// A card whose refused push has nothing more to show waits for minutes, until its next refresh.
  private func settleAll(_ stage: Stage) async throws {
    try await stage.until(Stage.unsettled(horizon: "30 s"), is: "0")
    try await stage.until(
      """
      select count(*) from ridepulse.ledger
      where attempts > 1 and finished_at > now() - interval '2 s'
      """, is: "0")
    let refused = "select count(*) from ridepulse.ledger where status = 'pending' and attempts > 0"
    if try await stage.value(refused) != "0" {
      try await Task.sleep(for: .seconds(2))  // poll: a retry that sends nothing leaves no trace
    }
  }

  private func record(_ stage: Stage, _ options: [String]) throws -> Tool {
    try Command.ridepulse(
      ["record", "--from", "2020-01-01T00:00:00Z", "--to", "2099-01-01T00:00:00Z"] + options,
      stage.environment.merging(Self.salt) { $1 })
  }

  @Test func `A recorded day of the demo's fleet names nobody, and is read again`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      defer { server.stop() }
      var fleet = Fleet(size: 3, end: .seconds(25), seed: 7)
      let secrets = try await run(&fleet, stage)
      #expect(secrets.count > 20)
      let plain = stage.directory + "/day.jsonl"
      let written = try record(stage, ["--output", plain])
      #expect(written.status == 0, "\(written)")
      let text = try String(contentsOfFile: plain, encoding: .utf8)
      for secret in secrets {
        #expect(!text.contains(secret), "\(secret)")
      }
      #expect(text.contains("driver_arrived") && text.contains(#""locale":"de""#))
      // Each final row of the ledger is an outcome of the day.
      let ledger = try await stage.value(
        "select count(*) from ridepulse.ledger where status <> 'pending'")
      #expect(text.matches(of: /"outcome":/).count == Int(ledger ?? "0"))
      let packed = plain + ".gz"
      #expect(try record(stage, ["--output", packed]).status == 0)
      var reader = DayReader()
      let lines = try LineReader(packed)
      var count = 0
      while let line = try lines.next() {
        _ = try reader.read(line)
        count += 1
      }
      #expect(count == text.split(separator: "\n").count)
      #expect(
        reader.header?.sample == 100 && reader.header?.schedules?.hasPrefix("sha256:") == true)
      // What is named is kept.
      let kept = stage.directory + "/kept.jsonl"
      #expect(try record(stage, ["--output", kept, "--keep", "plate,fare"]).status == 0)
      #expect(try String(contentsOfFile: kept, encoding: .utf8).contains("B-RP 1001"))
      let fewer = stage.directory + "/fewer.jsonl"
      #expect(try record(stage, ["--output", fewer, "--sample", "1%"]).status == 0)
      #expect(try String(contentsOfFile: fewer, encoding: .utf8).contains(#""sample":1,"#))
    }
  }

  /// 503 and REFUSED_STREAM are retried; a 410 ends one token, and an old one is survived by another.
  @Test func `A day with faults, rehearsed with its answers, ends as it was recorded`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      defer { server.stop() }
      try stage.faults(
        """
        [{"match": {"every": 17},
          "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}},
         {"match": {"every": 19}, "action": {"reset": "REFUSED_STREAM"}},
         {"match": {"every": 23}, "action": {"answer": {
           "status": 410, "reason": "Unregistered", "timestamp": 1600000000000}}},
         {"match": {"every": 29}, "action": {"answer": {
           "status": 410, "reason": "Unregistered", "timestamp": 4000000000000}}}]
        """)
      var fleet = Fleet(size: 3, end: .seconds(25), seed: 11)
      // A replay takes no time: it makes one pass of each change.
      _ = try await run(&fleet, stage, isStepwise: true)
      let day = stage.directory + "/faults.jsonl"
      #expect(try record(stage, ["--output", day]).status == 0)
      let text = try String(contentsOfFile: day, encoding: .utf8)
      #expect(text.matches(of: /"status":410/).count > 1 && text.contains(#""status":503"#))
      let result = try Command.ridepulse(
        [
          "rehearse", day, "--schedules", Project.path("schedules"), "--apns", "recorded",
          "--against", "recorded",
        ])
      #expect(result.status == 0, "\(result)")
    }
  }

  @Test func `U10: a recorded day with events about no ride is rehearsed without a change`()
    async throws
  {
    try await Stage.run { stage in
      let rules = """
        states: { active: [driver_arrived], final: [ride_completed] }
        events: [bonus_paid]
        rules:
          - name: arrived
            app: customer
            on: driver_arrived
            alert: { title: Your driver is here }
            expires: 5m
          - name: bonus
            app: driver
            on: bonus_paid
            alert: { title: "Your bonus: {{event.data.amount}}" }
            expires: 1h
        """
      let environment = try stage.environment(rules: rules)
      let server = try Server(environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      defer { server.stop() }
      try await stage.sql(
        "select ridepulse.register_device('driver', 'd2', repeat('d2', 32))")
      for ride in 1...3 {
        try await stage.addRide("r\(ride)", state: "driver_arrived")
        try await stage.settled()
        for driver in ["d1", "d2"] {
          try await stage.sql(
            """
            select ridepulse.emit(
              'bonus_paid', null, '{"driver_id": "\(driver)", "amount": "\(ride) EUR"}')
            """)
          try await stage.settled()
        }
      }
      #expect(try stage.arrivals().filter(\.isAccepted).count == 9)
      let day = stage.directory + "/personal.jsonl"
      let recorded = try record(stage, ["--output", day])
      #expect(recorded.status == 0 && recorded.output.contains(": 3 rides "), "\(recorded)")
      let directory = try #require(environment["RIDEPULSE_SCHEDULES"])
      let result = try Command.ridepulse(
        ["rehearse", day, "--schedules", directory, "--against", "recorded"])
      #expect(result.status == 0 && result.output.contains("no change"), "\(result)")
      #expect(result.output.contains("3 rides"), "\(result)")
    }
  }

  /// Runs the commands of docs/testing-rules.md, for today, on a branch that changes one rule.
  @Test func `The recipe for pull requests comments what a branch changes`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      var fleet = Fleet(size: 3, end: .seconds(25), seed: 7)
      _ = try await run(&fleet, stage)
      server.stop()
      let page = try String(contentsOfFile: Project.path("docs/testing-rules.md"), encoding: .utf8)
      let from = try #require(page.range(of: "# nightly"))
      let to = try #require(page.range(of: "```", range: from.upperBound..<page.endIndex))
      let recipe = page[from.lowerBound..<to.lowerBound]
        .replacing("--to \"$(date -u +", with: "--to \"$(date -u -d tomorrow +")
        .replacing("-d yesterday", with: "").replacing("--sample 5% ", with: "")
      let setting = """
        mkdir bin branch main
        cp -r "$PROJECT/schedules" main/schedules
        cp -r "$PROJECT/schedules" branch/schedules
        sed -i "s/Ride completed/Ride is over/" branch/schedules/strings/*.yaml branch/schedules/*.yaml
        ln -s "$PROJECT/scripts" branch/scripts
        ln -s "$RIDEPULSE" bin/ridepulse
        printf '#!/bin/sh\necho "gh $*"; cat "$5"\n' > bin/gh
        chmod +x bin/gh
        PATH="$PWD/bin:$PATH"
        cd branch
        """
      let result = try Tool.run(
        "/bin/sh", ["-e", "-c", "\(setting)\n\(recipe)"],
        environment: stage.environment.merging(Self.salt) { $1 }
          .merging([
            "PROJECT": Project.path("."), "RIDEPULSE": try Command.ridepulse, "NUMBER": "7",
            "PATH": "/usr/bin:/bin",
          ]) { $1 }, in: stage.directory)
      #expect(result.status == 2, "\(result)")
      #expect(result.output.contains("gh pr comment 7 --body-file comment.md\n### Rehearsal"))
      #expect(
        result.output.contains("driver-ride-completed: ") && result.output.contains("changed"))
    }
  }

  @Test func `Nothing is recorded without RIDEPULSE_RECORD, and wrong values are refused`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      try await stage.addRide()
      try await stage.settled()
      server.stop()
      #expect(try await stage.value("select count(*) from ridepulse.recorded") == "0")
      let none = try record(stage, ["--output", stage.directory + "/none.jsonl"])
      #expect(none.status == 1 && none.errors.contains("nothing was recorded"), "\(none)")
      #expect(!FileManager.default.fileExists(atPath: stage.directory + "/none.jsonl"))
      for wrong in ["5", "five", "200%", "0%"] {
        let refused = try Command.ridepulse(
          ["serve", "--once"], stage.environment.merging(["RIDEPULSE_RECORD": wrong]) { $1 })
        #expect(refused.status == 1)
        #expect(refused.errors.contains("RIDEPULSE_RECORD is \(wrong); expected a percentage"))
      }
      for salt in ["", "short"] {
        let refused = try Command.ridepulse(
          [
            "record", "--from", "2020-01-01T00:00:00Z", "--to", "2099-01-01T00:00:00Z",
            "--output", stage.directory + "/x.jsonl",
          ], stage.environment.merging(["RIDEPULSE_RECORD_SALT": salt]) { $1 })
        #expect(refused.status == 1 && refused.errors.contains("openssl rand"), "\(refused)")
      }
    }
  }
}
