package import Base
package import RideCore

/// A test of rules: a scenario, and what the rules must send in it.
package struct RuleTest: Sendable {
  package var name: String
  /// Where it begins in its file.
  package var location: SourceLocation
  package var scenario: Scenario
  /// The rules that are compared; nil means all.
  package var only: Set<String>?
  /// What is sent; nil if the test states only what is not, or what phones show.
  package var then: Expectation?
  /// What is not sent, and why.
  package var notSent: [ExpectedSilence] = []
  /// What no phone may show, by the test's file.
  package var never: [ScreenLimit] = []
  /// What phones show.
  package var screens: [ExpectedScreen] = []

  package init(name: String, location: SourceLocation, scenario: Scenario) {
    self.name = name
    self.location = location
    self.scenario = scenario
  }

  /// What a test expects to be sent.
  package enum Expectation: Hashable, Sendable {
    /// Exactly these pushes.
    case pushes([ExpectedPush], location: SourceLocation)
    /// Pushes in a rhythm, whatever they are.
    case rhythm(ExpectedRhythm)
  }

  /// Whether it expects anything.
  package var isComplete: Bool { then != nil || !notSent.isEmpty || !screens.isEmpty }

  /// The last instant that is followed.
  package var end: Timestamp {
    if let length = scenario.length { return scenario.start + length }
    var times = scenario.steps.map(\.at) + notSent.map(\.at) + screens.map(\.at)
    if case .pushes(let pushes, _)? = then { times += pushes.map(\.at) }
    return times.max() ?? scenario.start
  }

  /// Whether it compares what rules do, and not only what phones show.
  var comparesRules: Bool { then != nil || !notSent.isEmpty }

  /// Returns whether a rule is compared.
  func compares(_ rule: String) -> Bool { only?.contains(rule) ?? true }

  /// Returns a time of the scenario as rule files write it, such as `1h30m`; parts of a second are
  /// dropped.
  package func offset(_ instant: Timestamp) -> String { (instant - scenario.start).rideText }

  /// Returns the same for messages, with the ride's local time if that is on another day than the
  /// start.
  func time(_ instant: Timestamp) -> String {
    let zone = ZoneTimes(identifier: scenario.zoneName)
    let local = CivilTime.local(instant, zone)
    let clock = CivilTime.clock(instant, zone, nextTo: scenario.start)
    return offset(instant) + (clock == local ? " (\(local))" : "")
  }
}

/// A push that a test expects, to all phones that it concerns.
package struct ExpectedPush: Hashable, Sendable {
  package var location: SourceLocation
  package var at: Timestamp
  package var rule: String
  /// Nil means any app of the rule.
  package var app: App?
  /// Narrows it to the phones of a person.
  package var owner: OwnerID?
  /// Narrows it to phones with this locale.
  package var locale: String?
  /// Narrows it to phones with this system.
  package var platform: Platform?
  /// What it does to a card; nil if that is not compared.
  package var card: CardEvent?
  /// The event that the rule emits in the place of a push.
  package var emits: String?
  /// The receiver of a post; nil if that is not compared.
  package var receiver: String?
  package var type: PushType?
  package var priority: PushPriority?
  package var expires: RuleExpiry?
  package var collapse: String?
  /// A part of the payload.
  package var payload: JSONValue?
  /// The title that the phone shows; nil if that is not compared.
  package var title: String?
  /// On Android the notification channel and who draws the alert; nil if that is not compared.
  package var channel: String?
  package var drawnBy: AndroidStyle.Drawing?
  /// A part of what a card shows on Android.
  package var look: JSONValue?

  package init(location: SourceLocation, at: Timestamp, rule: String) {
    self.location = location
    self.at = at
    self.rule = rule
  }
}

/// How often a test expects pushes.
package struct ExpectedRhythm: Hashable, Sendable {
  package var location: SourceLocation
  package var count: Int?
  /// The time from each push to the next.
  package var gap: Duration?
  /// How far a gap may be off.
  package var tolerance: Duration = .zero
  /// The time of the last push at the latest.
  package var noneAfter: Timestamp?

  package init(location: SourceLocation) {
    self.location = location
  }
}

/// A push that a test expects not to be sent.
package struct ExpectedSilence: Hashable, Sendable {
  package var location: SourceLocation
  package var at: Timestamp
  package var rule: String
  /// Nil means any app of the rule.
  package var app: App?
  /// Narrows it to a person.
  package var owner: OwnerID?
  /// Narrows it to phones with this system.
  package var platform: Platform?
  /// The code of the reason, or a part of its text; nil means any.
  package var reason: String?

  package init(location: SourceLocation, at: Timestamp, rule: String) {
    self.location = location
    self.at = at
    self.rule = rule
  }
}
