import Base
import RideCore
import Testing

@testable import PostgresStore
@testable import RidePulse

/// What doctor finds in the attributes of live rides.
@Suite struct AttributeCheckTests {
  private static let declared = DeclaredAttributes([
    "eta_epoch": .time, "fare": .number, "product": .words(["taxi", "xl"]),
    "driver": .object(["rating": .number]),
  ])

  private func results(_ rides: [String], _ declared: DeclaredAttributes?) throws -> [CheckResult] {
    let rides = try rides.enumerated().map { index, json in
      LiveAttributes(RideID("r\(index)"), try #require(JSONValue(json: json.utf8)))
    }
    return AttributeCheck.results(.known(rides), declared)
  }

  private static let wrong = [
    #"{"fare": "3", "product": "xl"}"#, #"{"fare": "4", "driver": {"rating": "good"}}"#,
    #"{"product": "van", "eta_epoch": "soon"}"#, #"{"fare": [1]}"#,
  ]

  @Test func `Each attribute is counted, with one ride that has it`() throws {
    let results = try results(Self.wrong, Self.declared)
    #expect(
      results.map(\.what) == [
        "fare is declared as number, and 3 live rides have another value, such as r0",
        "driver.rating is declared as number, and 1 live ride has another value, such as r1",
        "eta_epoch is declared as time, and 1 live ride has another value, such as r2",
        "product is declared as [taxi, xl], and 1 live ride has another value, such as r2",
      ])
    #expect(results.allSatisfy { $0.standing == .warning && !$0.remedy.isEmpty })
  }

  @Test func `What agrees, is missing or is not declared is no warning`() throws {
    let rides = [
      #"{"fare": 3, "driver": null, "more": "x", "eta_epoch": "2026-11-21T08:00:00Z"}"#, "{}",
      #"{"fare": 2.5, "driver": {"name": 5}, "eta_epoch": 1800000000}"#,
    ]
    #expect(try results(rides, Self.declared) == [])
    #expect(try results(Self.wrong, nil) == [])
  }

  @Test func `Attributes that can't be read are a warning only if some are declared`() {
    let results = AttributeCheck.results(.failed("no answer"), Self.declared)
    #expect(results.map(\.what) == ["they can't be compared: no answer"])
    #expect(AttributeCheck.results(.failed("no answer"), nil) == [])
  }
}
