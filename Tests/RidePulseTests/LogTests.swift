import Foundation
import RideCore
import Testing
import TestSupport

/// Tests of the log of a service without faults.
@Suite struct LogTests {
  private func serve(_ format: String, rides: Int) async throws -> [Substring] {
    var lines: [Substring] = []
    try await Stage.run { stage in
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, \(rides)) n;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'driver_arrived', 'c' || n from generate_series(1, \(rides)) n
        """)
      let result = try Command.ridepulse(
        ["serve", "--once", "--log-format", format], stage.environment)
      #expect(result.status == 0)
      let accepted = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'accepted'")
      #expect(accepted == "\(rides)")
      lines = result.errors.split(separator: "\n")
    }
    return lines
  }

  @Test func `it says no more of three hundred pushes than of one`() async throws {
    let (few, many) = (try await serve("text", rides: 1), try await serve("text", rides: 300))
    #expect(few.count == many.count && (1...12).contains(many.count), "\(many)")
    for line in many {
      #expect(line.contains(/^\d{4}-\d\d-\d\dT\S+Z (INFO|WARNING) [A-Z]/), "\(line)")
    }
  }

  @Test func `for machines each line is an object with time, level and message`() async throws {
    for line in try await serve("json", rides: 3) {
      let record = JSONValue(json: line.utf8)
      for name in ["time", "level", "message"] {
        guard case .string = record?.value(at: [name]) else {
          Issue.record("no \(name) in \(line)")
          return
        }
      }
    }
  }
}
