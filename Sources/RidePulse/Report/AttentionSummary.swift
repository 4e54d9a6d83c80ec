import Base
import RideCore
import Timeline

/// What people notice of the rides of one app, as reports show it.
struct AttentionSummary {
  /// The numbers of half of the people, of all except one in a hundred, and of all: none exceeds it.
  struct Spread {
    var median = 0
    var p99 = 0
    var most = 0

    var text: String { "\(median) / \(p99) / \(most)" }
  }

  /// The hours that count as night, by the clock of the ride.
  static let nightText = "22:00 to 07:00"
  private static func isNight(_ hour: Int) -> Bool { hour >= 22 || hour < 7 }

  /// The people whom a ride reached; one of two rides counts twice.
  var people = 0
  var silent = 0
  /// During one ride.
  var rings = Spread()
  var lights = Spread()
  /// By hour, 0 to 23.
  var rangByHour = [Int](repeating: 0, count: 24)
  var litByHour = [Int](repeating: 0, count: 24)

  var rang: Int { rangByHour.reduce(0, +) }
  var lit: Int { litByHour.reduce(0, +) }
  var rangAtNight: Int { Self.atNight(rangByHour) }
  /// How often phones rang or lit up at night.
  var atNight: Int { rangAtNight + Self.atNight(litByHour) }

  private static func atNight(_ hours: [Int]) -> Int {
    hours.enumerated().reduce(0) { $0 + (isNight($1.offset) ? $1.element : 0) }
  }

  init(_ figures: AttentionFigures) {
    people = figures.people
    silent = figures.total.silent
    rings = Spread(figures.rings)
    lights = Spread(figures.lights)
    rangByHour = (0..<24).map { figures.total.rangByHour[$0] ?? 0 }
    litByHour = (0..<24).map { figures.total.litByHour[$0] ?? 0 }
  }

  /// Creates the summary of an app that sent nothing.
  init() {}

  static func byApp(_ figures: [App: AttentionFigures]) -> [String: AttentionSummary] {
    Dictionary(
      uniqueKeysWithValues: figures.map { ($0.key.rawValue, AttentionSummary($0.value)) })
  }
}

extension AttentionSummary.Spread {
  fileprivate init(_ numbers: Distribution) {
    median = numbers.number(notExceededBy: 0.5)
    p99 = numbers.number(notExceededBy: 0.99)
    most = numbers.number(notExceededBy: 1)
  }
}

// As JSON, which `rehearse --against FILE` reads again.
extension AttentionSummary {
  var json: JSONValue {
    func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }
    return .object([
      "people": number(people), "silent": number(silent),
      "rang": number(rang), "lit": number(lit), "at_night": number(atNight),
      "rings_per_ride": rings.json, "lit_per_ride": lights.json,
      "rang_by_hour": .array(rangByHour.map(number)), "lit_by_hour": .array(litByHour.map(number)),
    ])
  }

  init(_ value: JSONValue) {
    people = value.count(["people"])
    silent = value.count(["silent"])
    rings = Spread(value["rings_per_ride"])
    lights = Spread(value["lit_per_ride"])
    rangByHour = Self.hours(value["rang_by_hour"])
    litByHour = Self.hours(value["lit_by_hour"])
  }

  private static func hours(_ value: JSONValue?) -> [Int] {
    guard case .array(let hours)? = value else { return AttentionSummary().rangByHour }
    return (0..<24).map { $0 < hours.count ? hours[$0].count([]) : 0 }
  }
}

extension AttentionSummary.Spread {
  fileprivate var json: JSONValue {
    .object([
      "median": .integer(Int64(median)), "p99": .integer(Int64(p99)), "most": .integer(Int64(most)),
    ])
  }

  fileprivate init(_ value: JSONValue?) {
    median = value?.count(["median"]) ?? 0
    p99 = value?.count(["p99"]) ?? 0
    most = value?.count(["most"]) ?? 0
  }
}

extension JSONValue {
  fileprivate func count(_ path: [String]) -> Int { int(path) ?? 0 }
}
