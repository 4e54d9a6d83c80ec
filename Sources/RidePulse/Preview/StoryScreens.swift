import Base
import RideCore
import Timeline

/// What a page shows of a ride: what happened, what each phone showed then, and why not more.
///
/// A story fills it with many variants, a recorded ride with one. Each screen, and each of its parts, is
/// stated once and referred to by its index. Parts are counted by language in the order in which they come up,
/// so that the screens of all languages have equal indices and are one.
struct StoryScreens {
  /// A column of the page.
  struct Phone {
    var name: String?
    var app: App
    var platform: Platform
    /// The language that it states itself.
    var locale: String?
  }

  /// One way in which the ride may go.
  struct Variant: Hashable {
    var language = ""
    var hasCards = false
    var isNight = false
    /// When the network is gone for ten minutes; nil if it never is.
    var hole: Timestamp?
  }

  /// What happened at one time, and the screens after it, in the order of the phones.
  struct Step {
    var at: Timestamp
    /// In words; nil if only time passed.
    var title: String?
    /// The ride's state from then on; nil if it stays.
    var state: String?
    var rows: [JSONValue]
    var screens: [Screen]
    /// What follows without a push and without a new screen; nil if the next step is near.
    var quiet: Quiet?
  }

  /// A time in which nothing is sent and no screen changes, as a sentence for each cause.
  struct Quiet {
    var until: Timestamp
    var lines: [String]
    /// The states that the ride enters in it.
    var states: [QuietTime.Cause]
  }

  var heading: String
  var summary: String
  var zone: String
  /// Nil if the ride is not shown at night.
  var nightZone: String?
  var start: Timestamp
  var end: Timestamp
  /// When the last thing happens that no rule causes.
  var lastEvent: Timestamp?
  var phones: [Phone]
  /// The variant that is shown first.
  var first = Variant()
  /// Pictures of cards, by the word in their state.
  var images: [String: String] = [:]

  private var languages: [String] = []
  private var parts: [Pool<JSONValue>] = []
  private var screens = Pool<JSONValue>()
  private var rows = Pool<JSONValue>()
  private var quiets = Pool<JSONValue>()
  private var moments = Pool<JSONValue>()
  private var tracks = Pool<JSONValue>()
  private var variants: [JSONValue] = []

  init(
    heading: String, summary: String, zone: String, start: Timestamp, end: Timestamp,
    phones: [Phone]
  ) {
    self.heading = heading
    self.summary = summary
    self.zone = zone
    self.start = start
    self.end = end
    self.phones = phones
  }

  /// Adds a variant; those of one language follow each other in the same order for each language.
  mutating func add(_ variant: Variant, _ steps: [Step]) {
    let language = languages.firstIndex(of: variant.language) ?? languages.count
    if language == languages.count {
      languages.append(variant.language)
      parts.append(Pool())
    }
    var before: Step?
    let track = steps.map { step in
      defer { before = step }
      let screens = step.screens.indices.map { screen(step, $0, since: before, language) }
      return JSONValue.array([moment(step)] + screens)
    }
    variants.append(
      .object([
        "language": .integer(Int64(language)), "cards": .bool(variant.hasCards),
        "night": .bool(variant.isNight), "hole": Self.seconds(variant.hole),
        "track": .integer(tracks.index(of: .array(track))),
      ]))
  }

  private mutating func moment(_ step: Step) -> JSONValue {
    let indices = step.rows.map { JSONValue.integer(rows.index(of: $0)) }
    let moment = JSONValue.object([
      "at": .integer(step.at.epochSeconds), "title": .orNull(step.title),
      "state": .orNull(step.state), "rows": .array(indices),
      "quiet": step.quiet.map { .integer(quiets.index(of: $0.json)) } ?? .null,
    ])
    return .integer(moments.index(of: moment))
  }

  /// Returns the index of a screen whose parts are indices.
  private mutating func screen(
    _ step: Step, _ index: Int, since before: Step?, _ language: Int
  ) -> JSONValue {
    let phone = phones[index]
    let screen = step.screens[index]
    // A phone is empty before a story.
    let seen = before?.screens[index] ?? Screen(screen.platform, at: start)
    let json = ScreenJSON(screen, app: phone.app.rawValue, name: phone.name, since: seen).value
    guard case .object(var members) = json else { return .null }
    // The page has these of the phone and of the moment.
    for key in ["platform", "app", "name", "at"] { members[key] = nil }
    for key in ["threads", "cards", "waiting", "lost"] {
      members[key] = members[key].map { indexed($0, language) }
    }
    return .integer(screens.index(of: .object(members)))
  }

  private mutating func indexed(_ value: JSONValue, _ language: Int) -> JSONValue {
    guard case .array(let values) = value else {
      return .integer(parts[language].index(of: value))
    }
    return .array(values.map { indexed($0, language) })
  }

  private static func seconds(_ instant: Timestamp?) -> JSONValue {
    instant.map { .integer($0.epochSeconds) } ?? .null
  }

  /// The content of each card that is shown.
  var cardStates: [JSONValue] { parts.flatMap(\.values).compactMap { $0["state"] } }

  var json: JSONValue {
    .object([
      "heading": .string(heading), "summary": .string(summary), "zone": .string(zone),
      "night_zone": .orNull(nightZone), "start": Self.seconds(start), "end": Self.seconds(end),
      "last_event": Self.seconds(lastEvent),
      "phones": .array(phones.map(\.json)),
      "languages": .array(
        languages.map {
          .object(["tag": .string($0), "rtl": .bool(FoundationFormats.isRightToLeft($0))])
        }),
      "parts": .array(parts.indices.map(partList)), "screens": .array(screens.values),
      "rows": .array(rows.values),
      "quiets": .array(quiets.values), "moments": .array(moments.values),
      "tracks": .array(tracks.values), "variants": .array(variants),
      "first": .object([
        "cards": .bool(first.hasCards), "night": .bool(first.isNight),
        "language": .integer(Int64(languages.firstIndex(of: first.language) ?? 0)),
      ]),
      "images": .object(images.mapValues { .string($0) }),
    ])
  }

  /// Returns the parts of a language; 0 is one that is as in the first language.
  private func partList(_ language: Int) -> JSONValue {
    let own = parts[language].values
    guard language > 0, let base = parts.first?.values else { return .array(own) }
    return .array(
      own.indices.map { $0 < base.count && own[$0] == base[$0] ? .integer(0) : own[$0] })
  }
}

extension StoryScreens.Quiet {
  fileprivate var json: JSONValue {
    .object([
      "until": .integer(until.epochSeconds), "lines": .array(lines.map { .string($0) }),
      "states": .array(
        states.map {
          .object(["at": .integer($0.at.epochSeconds), "state": .string($0.name)])
        }),
    ])
  }
}

extension StoryScreens.Phone {
  fileprivate var json: JSONValue {
    .object([
      "name": .orNull(name), "app": .string(app.rawValue), "platform": .string(platform.rawValue),
      "locale": .orNull(locale),
    ])
  }
}

/// Values by the order in which they first come up.
private struct Pool<Value: Hashable> {
  private(set) var values: [Value] = []
  private var indices: [Value: Int64] = [:]

  mutating func index(of value: Value) -> Int64 {
    if let index = indices[value] { return index }
    let index = Int64(values.count)
    values.append(value)
    indices[value] = index
    return index
  }
}
