@testable import RideCore
@testable import Timeline
@testable import RuleFiles

/// The rules that the tests of tests are about.
enum RuleTestRules {
  static let yaml = """
    states: { active: [requested, driver_en_route, driver_arrived], final: [ride_completed] }
    events: [eta_changed, offer_unseen, driver_lost]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert:
          title: { en: Your driver is here, de: Dein Fahrer ist da }
          body: "{{ride.attributes.plate}}"
          sound: default
        data: { seats: 4, list: [1, 2], none: null }
        expires: 5m
        collapse: "ride-{{ride.id}}"
      - name: eta
        app: customer
        on: [eta_changed, ride_updated]
        if: ride.attributes.eta > 5
        alert: { title: New time }
        expires: never-store
      - name: offer
        app: driver
        on: requested
        escalate: { unless-seen-within: 6s, emit: offer_unseen }
        alert: { title: Offer, mutable-content: true }
        expires: 15s
      - { name: lost, app: driver, at: contact + 2m, while: [driver_arrived], emit: driver_lost }
      - { name: heartbeat, app: driver, every: 20m, while: [driver_en_route], background: {}, expires: 5m }
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          start: driver_en_route
          stale-after: 2m
          alerts: { driver_arrived: { title: { en: Here, de: Da } } }
        expires: 2m
    """

  /// Returns a loader that knows these rules as those of `schedules`.
  static func loader(
    allowsIncomplete: Bool = false, rules: String = yaml
  ) -> RuleTestLoader {
    var loader = RuleTestLoader(
      override: nil, standard: "schedules", allowsIncomplete: allowsIncomplete)
    loader.loaded["schedules"] = RuleDirectory.parse(
      files: [("schedules/a.yaml", Array(rules.utf8))])
    return loader
  }

  static func file(
    _ yaml: some StringProtocol, allowsIncomplete: Bool = false, rules: String = Self.yaml
  ) throws(RuleProblems) -> RuleTestFile {
    var loader = loader(allowsIncomplete: allowsIncomplete, rules: rules)
    return try loader.parse(Array(yaml.utf8), named: "schedules/a.test.yaml").get()
  }

  /// Returns what `ridepulse test` reports about a file: problems, or what its tests do not meet.
  static func messages(
    about yaml: some StringProtocol, rules: String = Self.yaml
  ) -> [String] {
    let file: RuleTestFile
    do {
      file = try Self.file(yaml, rules: rules)
    } catch {
      return error.problems.map(\.description)
    }
    return file.tests.flatMap { test in
      let run = RuleTestRun(test, by: file.configuration)
      return test.unmet(by: run, of: file.rules.ruleSet).flatMap { unmet in
        file.description(of: unmet, in: test).split(separator: "\n").map(String.init)
      }
    }
  }
}
