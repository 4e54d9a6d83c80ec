import Base
import RideCore
import Testing
import Timeline

@testable import RuleFiles

/// A courier with several parcels, each of which is a ride of its own, with the shipped rules.
@Suite struct CourierTests {
  private static let header =
    #"{"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-22T00:00:00Z"}"#

  /// Returns a line of the day, some seconds after its start.
  private static func line(_ second: Int, _ columns: String) -> (at: Int, text: String) {
    let at = CivilTime.iso(Timestamp(epochSeconds: 1_795_219_200) + .seconds(second))
    return (second, #"{"at":"\#(at)","ride":{\#(columns)}}"#)
  }

  /// Returns the heartbeats to the courier: each parcel is on its way for 110 minutes, and begins three minutes
  /// after the one before.
  private static func heartbeats(parcels: Int) throws -> Int {
    let lines = (0..<parcels).flatMap { number in
      [
        line(
          180 * number,
          #""id":"p\#(number)","state":"requested","customer_id":"u\#(number)","driver_id":"d1""#),
        line(180 * number + 1, #""id":"p\#(number)","state":"driver_en_route""#),
        line(180 * number + 6600, #""id":"p\#(number)","state":"ride_completed""#),
      ]
    }
    let rules = try RuleDirectory.load(ScheduleTests.directory).get().ruleSet
    let bundles = Dictionary(uniqueKeysWithValues: rules.apps.map { ($0, "com.example.\($0)") })
    let options = Rehearsal.Options()
    var reader = DayReader()
    _ = try reader.read(Array(header.utf8))
    var rehearsal = Rehearsal(
      try #require(reader.header),
      by: EngineConfiguration(rules: rules, bundleIDs: bundles), options)
    for line in lines.sorted(by: { $0.at < $1.at }) {
      if let line = try reader.read(Array(line.text.utf8), of: options.part) {
        try rehearsal.add(line, number: reader.lines)
      }
    }
    return rehearsal.finish().figures.byRule["driver-heartbeat"]?.pushes ?? 0
  }

  @Test func `Six parcels of one courier have one heartbeat in twenty minutes`() throws {
    let one = try Self.heartbeats(parcels: 1)
    #expect(one == 5)
    let six = try Self.heartbeats(parcels: 6)
    // The last parcel arrives a quarter of an hour after the first.
    #expect((one...one + 1).contains(six), "\(six)")
  }
}
