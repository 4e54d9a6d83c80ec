import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import RuleFiles
import Testing
import TestSupport

@testable import RidePulse

/// The types that cards were really sent, and start tokens of types that no rule has.
@Suite(.timeLimit(.minutes(60))) struct DoctorCardTests {
  private static let rules = """
    states: { active: [requested, ride_started], final: [done] }
    rules:
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state:
            status: "{{ride.state}}"
            eta: "{{ride.attributes.eta}}"
          stale-after: 5m
          min-interval: 1s
        expires: 5m

    """

  @Test func `R95: doctor reports the types that cards were sent`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      #expect(!(try Checkup(environment)).checks.contains { $0.name.hasPrefix("card ") })
      let server = try Server(environment)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r1', 'requested', 'c1', '{"eta": 7}');
        select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(CardTests.token)', 'a');
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r2', 'requested', 'c2', '{"eta": "soon"}');
        select ridepulse.register_live_activity('r2', 'customer', 'c2', 'cd\(CardTests.token)', 'b')
        """)
      try await stage.settled()
      // It writes what it counted before it ends.
      #expect(server.stop() == 0)
      #expect(
        try await stage.rows(
          // Both may not be of the same hour.
          """
          select field, json_type, sum(count) from ridepulse.card_type_hours
          group by 1, 2 order by 1, 2
          """)
          == [
            ["content-state.eta", "int", "1"], ["content-state.eta", "string", "1"],
            ["content-state.status", "string", "2"],
          ])
      let checkup = try Checkup(environment)
      checkup.expect(
        "card RideAttributes", "warning", "content-state.eta was int (1 push, last 20")
      checkup.expect("card RideAttributes", "warning", " and string (1 push, last 20")
      checkup.expect("card RideAttributes", "warning", "state the type in \(stage.directory)/rules")
      // What was not sent for a day is history.
      try await stage.sql(
        """
        update ridepulse.card_type_hours set hour = hour - interval '1 day' where json_type = 'string'
        """)
      try Checkup(environment).expect(
        "card RideAttributes", "ok", "in the last day: content-state.eta int")
    }
  }

  @Test func `R95: doctor reports start tokens of types that no rule has`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        select ridepulse.register_device('driver', 'd1', '\(Stage.driverToken)');
        select ridepulse.register_push_to_start('customer', 'c1', 'a1', 'RideAttributes')
        """)
      #expect(!(try Checkup(environment)).checks.contains { $0.name == "start tokens" })
      try await stage.sql(
        """
        select ridepulse.register_push_to_start('customer', 'c1', 'a2', 'RideAttribute');
        select ridepulse.register_push_to_start('customer', 'c1', 'a3', 'RideAttribute');
        select ridepulse.register_push_to_start('driver', 'd1', 'a4', 'RideAttributes');
        select ridepulse.register_push_to_start('customer', 'c1', 'a5', 'OldAttributes');
        select ridepulse.unregister_push_to_start('customer', 'a5')
        """)
      let checkup = try Checkup(environment)
      checkup.expect(
        "start tokens", "warning",
        #""RideAttribute" of customer (2 tokens; its rules have RideAttributes)"#)
      checkup.expect(
        "start tokens", "warning",
        #""RideAttributes" of driver (1 token; it has no live-activity rule)"#)
      #expect(!checkup.description.contains("OldAttributes"))
    }
  }

  @Test func `R95: a field of either of two rule sets with one type is none of the faults`() throws
  {
    func loaded(_ text: String) throws -> RuleSet {
      let file = RuleSource.StoredFile(name: "a.yaml", text: text)
      return try RuleSource(stored: [file], of: "rules").load().get().ruleSet
    }
    let one = try loaded(
      Self.rules.replacing("\"{{ride.attributes.eta}}\"", with: Self.typed("int")))
    let two = try loaded(
      Self.rules.replacing(
        "eta: \"{{ride.attributes.eta}}\"", with: "arrival: \(Self.typed("string"))"))
    let share = try #require(RecordSample(text: "5%"))
    let sent = [("eta", .int), ("arrival", .string), ("arrival", .int), ("gone", .int)].map {
      (name: String, type: CardTypeTally.JSONType) in
      SentCardType(
        CardTypeTally.Line(
          attributesType: "RideAttributes", field: "content-state.\(name)", type: type, count: 1),
        lastAt: Timestamp(epochSeconds: 0))
    }
    for rules in [one.joined(with: two, for: share), two.joined(with: one, for: share)] {
      let usage = try #require(CardUsage.all(sent, rules).first)
      let faults = usage.fields.filter { $0.fault != nil }
      #expect(faults.map(\.name) == ["content-state.arrival", "content-state.gone"])
      #expect(faults.map(\.faulty) == [[.int], [.int]])
    }
  }

  private static func typed(_ type: String) -> String {
    "{ value: \"{{ride.attributes.eta}}\", type: \(type) }"
  }

  /// A field's type in the rules, the types that were sent, and whether that is a fault.
  private static let fields: [(CardField, [CardTypeTally.JSONType], Bool)] = [
    (CardField(.int), [.int], false), (CardField(.int), [.int, .fraction], true),
    (CardField(.dateEpoch), [.int], false), (CardField(.dateEpoch), [.string], true),
    (CardField(.double), [.int, .fraction], false), (CardField(.state), [.string], false),
    (CardField(.string), [.string, .null], true), (CardField(.bool), [.int], true),
    (CardField(.string, isOptional: true), [.string, .null], false),
    (CardField(.list(nil)), [.object], true), (CardField(.object(nil)), [.object], false),
    (CardField(.unknown), [.string], false), (CardField(.unknown), [.string, .int], true),
  ]

  @Test(arguments: fields.indices)
  func `R95: a type that the rule does not state is a fault`(index: Int) {
    let (field, types, isFault) = Self.fields[index]
    let sent = types.map {
      SentCardType(
        CardTypeTally.Line(
          attributesType: "Ride", field: "content-state.a.b", type: $0, count: 1),
        lastAt: Timestamp(epochSeconds: 0))
    }
    let contract = CardContract(typeName: "Ride", contentState: ["a.b": field])
    let usage = CardUsage.Field("content-state.a.b", sent, of: [contract])
    #expect((usage.fault != nil) == isFault)
  }
}
