import Foundation
import TestSupport
import Testing

@Suite("serve --once") struct OnceTests {
  private func once(_ stage: Stage) throws -> (status: Int32, errors: String) {
    let result = try Command.ridepulse(["serve", "--once"], stage.environment)
    return (result.status, result.errors)
  }

  @Test func `R117 a run that handled all that was due prints nothing`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      let run = try once(stage)
      #expect(run.status == 0 && run.errors == "", "\(run)")
      let accepted = "select count(*) from ridepulse.ledger where status = 'accepted'"
      #expect(try await stage.value(accepted) != "0")
      let asked = try Command.ridepulse(
        ["serve", "--once", "--log-level", "info"], stage.environment)
      #expect(asked.status == 0 && asked.errors.contains(" Serving"))
    }
  }

  @Test func `R117 a push that waits for another attempt makes the run fail, and is named`()
    async throws
  {
    try await Stage.run { stage in
      try stage.faults(
        #"""
        [{"match": {"topic": "com.example.customer"},
          "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}}]
        """#)
      try await stage.addRide()
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      let run = try once(stage)
      #expect(run.status == 1)
      #expect(run.errors.contains("Pushes wait for another attempt app=customer pushes="))
      #expect(run.errors.contains("reason=ServiceUnavailable"), "\(run.errors)")
      try stage.faults("[]")
      let waiting = "select count(*) from ridepulse.ledger where status = 'pending'"
      try await wait(until: "a later run has handled it") {
        let next = try once(stage)
        return try await stage.value(waiting) == "0" && next.status == 0
      }
    }
  }

  @Test func `A17: a database with array_nulls = off sends one push after another`() async throws {
    try await Stage.run { stage in
      let name = stage.conninfo.split(separator: "=").last ?? ""
      try await stage.sql("alter database \(name) set array_nulls = off")
      try await stage.addRide()
      for event in ["driver_nearby", "driver_arrived"] {
        try await stage.sql("select ridepulse.emit('\(event)', 'r1')")
        let run = try once(stage)
        #expect(run.status == 0 && run.errors == "", "\(run)")
      }
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  @Test func `R117 a ride parked during the run makes it fail, one parked before does not`()
    async throws
  {
    try await Stage.run { stage in
      // Postgres refuses the settlement of one ride alone.
      try await stage.sql(SettlementTests.raise("new.ride_id = 'r2'"))
      try await SettlementTests.notify(3, stage)
      let run = try once(stage)
      #expect(run.status == 1 && run.errors.contains("Rides parked during this run rides=1"))
      let next = try once(stage)
      #expect(next.status == 0 && next.errors == "", "\(next)")
    }
  }
}
