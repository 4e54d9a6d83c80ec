import Base
import RideCore
import Timeline

/// The figures of one set of rules on one day, as a report shows them and a former report has them.
struct RehearsalSummary {
  struct Breach {
    var promise: String
    var count: Int
    var example: String
  }

  var rides = 0
  var pushes = 0
  var byType: [String: Int] = [:]
  var byPriority: [String: Int] = [:]
  var byRule: [String: RehearsalFigures.RuleFigures] = [:]
  var notSent: [String: [String: Int]] = [:]
  var median = 0
  var p99 = 0
  var most = 0
  var peak: (of: RehearsalFigures.OwnerHour, pushes: Int)?
  var busiest: (minute: Int64, pushes: Int)?
  var overBudgetCards = 0
  var overBudgetPushes = 0
  var byMinute: [Int64: Int] = [:]
  var breaches: [Breach] = []
  /// By app; empty for what was recorded.
  var attention: [String: AttentionSummary] = [:]

  init(_ figures: RehearsalFigures) {
    rides = figures.rides
    pushes = figures.pushes
    byType = figures.byType
    byPriority = Dictionary(
      uniqueKeysWithValues: figures.byPriority.map { ("\($0.key)", $0.value) })
    byRule = figures.byRule
    notSent = figures.notSent
    median = figures.ridesByPushes.number(notExceededBy: 0.5)
    p99 = figures.ridesByPushes.number(notExceededBy: 0.99)
    most = figures.ridesByPushes.number(notExceededBy: 1)
    peak = figures.peak
    busiest = figures.busiest
    overBudgetCards = figures.overBudgetCards
    overBudgetPushes = figures.overBudgetPushes
    byMinute = figures.byMinute
    attention = AttentionSummary.byApp(figures.attention)
    breaches = RehearsalFigures.Promise.allCases.compactMap { promise in
      figures.breaches[promise].map {
        Breach(promise: promise.rawValue, count: $0.count, example: $0.example)
      }
    }
  }
}

// The figures as JSON, which `--against FILE` reads again.
extension RehearsalSummary {
  var json: JSONValue {
    func counts(_ counts: [String: Int]) -> JSONValue {
      .object(counts.mapValues { .integer(Int64($0)) })
    }
    let rules = byRule.mapValues { figures in
      JSONValue.object([
        "pushes": .integer(Int64(figures.pushes)),
        "digest": .string(String(figures.digest, radix: 16)),
      ])
    }
    var members: [String: JSONValue] = [
      "rides": .integer(Int64(rides)), "pushes": .integer(Int64(pushes)),
      "by_type": counts(byType), "by_priority": counts(byPriority), "by_rule": .object(rules),
      "not_sent": .object(notSent.mapValues(counts)),
      "per_ride": counts(["median": median, "p99": p99, "most": most]),
      "attention": .object(attention.mapValues(\.json)),
      "over_budget": counts(["cards": overBudgetCards, "pushes": overBudgetPushes]),
      "minutes": .array(
        byMinute.sorted { $0.key < $1.key }.map { minute, pushes in
          .array([.integer(minute), .integer(Int64(pushes))])
        }),
      "broken_promises": .array(
        breaches.map { breach in
          .object([
            "promise": .string(breach.promise), "count": .integer(Int64(breach.count)),
            "example": .string(breach.example),
          ])
        }),
    ]
    if let peak {
      members["peak"] = .object([
        "app": .string(peak.of.app.rawValue), "owner_id": .string(peak.of.owner.text),
        "hour": .string(Self.hour(peak.of.hour)), "pushes": .integer(Int64(peak.pushes)),
      ])
    }
    if let busiest {
      members["busiest_minute"] = .object([
        "at": .string(Self.minute(busiest.minute)), "pushes": .integer(Int64(busiest.pushes)),
      ])
    }
    return .object(members)
  }

  static func hour(_ hour: Int64) -> String {
    CivilTime.exact(Timestamp(epochSeconds: hour * 3600))
  }

  static func minute(_ minute: Int64) -> String {
    CivilTime.exact(Timestamp(epochSeconds: minute * 60))
  }

  /// Reads the figures of a former report; nil if the value has others.
  init?(_ value: JSONValue) {
    guard case .object = value, let rides = value.int(["rides"]),
      let pushes = value.int(["pushes"]), case .object(let rules)? = value.value(at: ["by_rule"])
    else { return nil }
    self.rides = rides
    self.pushes = pushes
    for (rule, figures) in rules {
      guard let pushes = figures.int(["pushes"]), let digest = figures.text(["digest"]),
        let digest = UInt64(digest, radix: 16)
      else { return nil }
      byRule[rule] = RehearsalFigures.RuleFigures(pushes: pushes, digest: digest)
    }
    byType = value.counts(["by_type"])
    byPriority = value.counts(["by_priority"])
    if case .object(let rules)? = value.value(at: ["not_sent"]) {
      for rule in rules.keys { notSent[rule] = value.counts(["not_sent", rule]) }
    }
    if case .object(let apps)? = value["attention"] {
      attention = apps.mapValues(AttentionSummary.init)
    }
    median = value.int(["per_ride", "median"]) ?? 0
    p99 = value.int(["per_ride", "p99"]) ?? 0
    most = value.int(["per_ride", "most"]) ?? 0
    overBudgetCards = value.int(["over_budget", "cards"]) ?? 0
    overBudgetPushes = value.int(["over_budget", "pushes"]) ?? 0
    if let hour = value.text(["peak", "hour"]).flatMap(CivilTime.instant(iso:)),
      let app = value.text(["peak", "app"]), let owner = value.text(["peak", "owner_id"]),
      let pushes = value.int(["peak", "pushes"])
    {
      let of = RehearsalFigures.OwnerHour(
        app: App(rawValue: app), owner: OwnerID(owner), hour: hour.epochSeconds / 3600)
      peak = (of, pushes)
    }
    if let at = value.text(["busiest_minute", "at"]).flatMap(CivilTime.instant(iso:)),
      let pushes = value.int(["busiest_minute", "pushes"])
    {
      busiest = (at.epochSeconds / 60, pushes)
    }
    if case .array(let minutes)? = value.value(at: ["minutes"]) {
      for case .array(let pair) in minutes {
        if pair.count == 2, let minute = pair[0].int([]), let pushes = pair[1].int([]) {
          byMinute[Int64(minute)] = pushes
        }
      }
    }
  }
}

extension JSONValue {
  /// What a count may be, so that differences of counts can't overflow.
  private static let counts: ClosedRange<Int64> = 0...1_000_000_000_000

  func int(_ path: [String]) -> Int? {
    guard case .integer(let number)? = value(at: path), Self.counts.contains(number) else {
      return nil
    }
    return Int(number)
  }

  fileprivate func text(_ path: [String]) -> String? {
    if case .string(let text)? = value(at: path) { text } else { nil }
  }

  fileprivate func counts(_ path: [String]) -> [String: Int] {
    guard case .object(let members)? = value(at: path) else { return [:] }
    return members.compactMapValues { $0.int([]) }
  }
}
