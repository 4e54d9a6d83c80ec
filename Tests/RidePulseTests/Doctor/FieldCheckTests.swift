import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import RuleFiles
import TestSupport
import Testing

@testable import RidePulse

/// The phones whose app is older than a field of its card.
@Suite(.timeLimit(.minutes(60))) struct FieldCheckTests {
  private static let rules = """
    states: { active: [requested], final: [done] }
    rules:
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state:
            status: "{{ride.state}}"
            note: { value: "{{ride.attributes.note}}", type: string, since: 2 }
          stale-after: 5m
          min-interval: 1s
        expires: 5m

    """

  private static let first: [Platform: AppVersion?] = [
    .ios: AppVersion("5.2"), .android: AppVersion("3.0"),
  ]
  private static let release = [
    "RideAttributes": ContractReleases(first: [2: first.compactMapValues { $0 }])
  ]

  private static let rows:
    [(counts: [AppVersionCount], releases: [String: ContractReleases], text: String)] = [
      (
        [
          AppVersionCount(.customer, .ios, "5.1.9", phones: 2),
          AppVersionCount(.customer, .ios, "5.2.0", phones: 4),
          AppVersionCount(.customer, .android, "2.9", phones: 1),
          AppVersionCount(.customer, .android, "3", phones: 1),
          AppVersionCount(.customer, .ios, nil, phones: 5),
          AppVersionCount(.driver, .ios, "1.0", phones: 90),
        ], release,
        "38 % of the phones of customer (3 of 8) have an app without content-state.note: since 2, "
          + "android 3.0, ios 5.2; 5 phones report no version"
      ),
      (
        [AppVersionCount(.customer, .ios, "5.10", phones: 1)], release,
        "1 phone of customer, each with an app that has content-state.note: since 2, android 3.0, "
          + "ios 5.2"
      ),
      (
        [AppVersionCount(.customer, .ios, "x", phones: 1)], release,
        "no phone of customer reports its app_version; content-state.note: since 2, android 3.0, "
          + "ios 5.2; 1 phone reports no version"
      ),
      (
        [], [:],
        "content-state.note, since 2: name the first app that decodes it in contract.lock under "
          + "releases, and the phones without it are counted"
      ),
    ]

  @Test(arguments: rows.indices) func `The share of phones without a field`(row: Int) throws {
    let (counts, releases, text) = Self.rows[row]
    try ScratchFolder.with { directory in
      try Self.rules.write(toFile: "\(directory)/a.yaml", atomically: true, encoding: .utf8)
      let rules = try RuleDirectory.load(directory).get().ruleSet
      #expect(
        FieldCheck.results(.known(counts), rules, releases)
          == [.ok("fields RideAttributes", text)])
      #expect(
        FieldCheck.results(.known(counts), rules, releases, problem: "l:1:1: x").map(\.standing)
          == [.warning])
    }
  }

  @Test func `doctor counts the phones by the releases in contract.lock`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let directory = try #require(environment["RIDEPULSE_SCHEDULES"])
      try """
      RideAttributes:
        releases: { 2: { ios: "5.2" } }
        content-state: { note: { type: string, since: 2 }, status: state }

      """.write(toFile: "\(directory)/contract.lock", atomically: true, encoding: .utf8)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', 'a1', app_version => '5.1');
        select ridepulse.register_device('customer', 'c2', 'a2', app_version => '5.2');
        """)
      try Checkup(environment).expect(
        "fields RideAttributes", "ok", "50 % of the phones of customer (1 of 2) have an app without"
      )
    }
  }
}
