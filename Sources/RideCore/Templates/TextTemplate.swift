package import Base

/// A text with placeholders: `{{ride.attributes.driver_name | default: 'Your driver'}} is waiting`.
package struct TextTemplate: Hashable, Sendable {
  /// A part of the text.
  package enum Segment: Hashable, Sendable {
    /// Constant text.
    case literal(String)
    /// A placeholder to be filled in for each push.
    case placeholder(Placeholder)
  }

  /// The parts, in order; empty if the text is empty.
  package let segments: [Segment]

  /// Whether it depends on the person whom the push addresses.
  let readsMe: Bool

  /// Joins parts of texts.
  package init(segments: [Segment]) {
    self.segments = segments.filter { $0 != .literal("") }
    readsMe = segments.contains { segment in
      guard case .placeholder(let placeholder) = segment else { return false }
      return placeholder.withCodePaths.contains(where: \.isOfPerson)
    }
  }

  /// Creates a constant text; braces in it have no special meaning.
  package init(literal text: String) { self.init(segments: [.literal(text)]) }

  /// Parses a text with placeholders.
  ///
  /// - Throws: `TemplateError` for the first error in it.
  package init(_ text: String) throws(TemplateError) {
    self = try TextSource(text).template.get()
  }

  /// The placeholder, if the text consists of a single one: its value keeps its JSON type.
  package var solePlaceholder: Placeholder? {
    guard segments.count == 1, case .placeholder(let placeholder) = segments[0] else { return nil }
    return placeholder
  }

  /// The text, if it has no placeholder.
  package var literalText: String? {
    if segments.isEmpty { return "" }
    guard segments.count == 1, case .literal(let text) = segments[0] else { return nil }
    return text
  }

  /// The clocks by which it shows times; a time in a named zone has none of them.
  var clocks: Set<WallClock.Owner> {
    var clocks: Set<WallClock.Owner> = []
    for placeholder in placeholders {
      var before: Filter?
      for filter in placeholder.filters {
        if [.time, .date, .weekday].contains(filter) {
          switch before {
          case .zone: break
          case .phoneZone: clocks.insert(.phone)
          default: clocks.insert(.ride)
          }
        }
        before = filter
      }
    }
    return clocks
  }

  /// The placeholders in it, each followed by the paths that its filters read.
  package var placeholders: [Placeholder] {
    segments.flatMap { segment -> [Placeholder] in
      guard case .placeholder(let placeholder) = segment else { return [] }
      return placeholder.withCodePaths
    }
  }
}

/// The part of a text between `{{` and `}}`: a path into the ride or the event, and filters.
package struct Placeholder: Hashable, Sendable {
  /// The source of a placeholder's value.
  package enum Source: Hashable, Sendable {
    /// A column of `ridepulse.rides`.
    case ride(RideField)
    /// `ride.attributes`, or a path of keys below it.
    case attributes([String])
    /// `event.name`.
    case eventName
    /// `event.at`: when the event was emitted.
    case eventTime
    /// `event.data`, or a path of keys below it.
    case eventData([String])
    /// `ride.entered.STATE`: when the ride last entered the state.
    case entered(String)
    /// A path of keys below `me`: the attributes of the participant whom the push addresses.
    case me([String])
  }

  /// The columns of a ride that a placeholder may name.
  package enum RideField: String, CaseIterable, Hashable, Sendable {
    case id
    case state
    case customerID = "customer_id"
    case driverID = "driver_id"
    case pickupAt = "pickup_at"
    case timeZone = "time_zone"
    case updatedAt = "updated_at"
  }

  package var source: Source
  /// The filters, in the order in which they are applied.
  package var filters: [Filter]
  /// The path as written, for messages, such as `ride.attributes.plate`.
  package var path: String
  /// The declared type of the attribute; nil without a declaration.
  package var declared: AttributeType?

  /// Whether the value may be null: `default: null` allows it.
  var isNullable: Bool { filters.contains(.fallback(.null)) }

  /// Whether the phone's locale determines how the value is written.
  package var followsLocale: Bool {
    filters.contains {
      switch $0 {
      case .time, .date, .weekday, .relative, .currency, .plural: true
      case .fallback, .zone, .phoneZone, .select, .epoch, .int, .upper, .lower: false
      }
    }
  }

  /// Whether it shows a time of the phone's own clock.
  package var readsPhoneZone: Bool { filters.contains(.phoneZone) }

  /// Whether the value comes from the event and not from the ride.
  package var isOfEvent: Bool {
    switch source {
    case .eventName, .eventTime, .eventData: true
    case .ride, .attributes, .entered, .me: false
    }
  }

  /// The placeholder, followed by the paths that its filters read.
  fileprivate var withCodePaths: [Placeholder] { [self] + filters.compactMap(\.codePath) }

  /// Whether the value depends on the person whom the push addresses.
  package var isOfPerson: Bool { if case .me = source { true } else { false } }

  /// All valid paths, for messages; `ride.attributes` and `event.data` may be followed by keys, `me`
  /// and `ride.entered` are by one.
  static let knownPaths =
    RideField.allCases.map { "ride." + $0.rawValue }
    + ["ride.attributes", "ride.entered", "event.name", "event.at", "event.data", "me"]

  /// Where the keys of an installation are, by the first word of their path.
  private static let containers = ["ride": "ride.attributes", "event": "event.data"]

  /// Returns the path that was probably meant: a near word, otherwise a key below `ride.attributes`
  /// or `event.data`.
  static func nearestPath(to path: String) -> String? {
    let words = path.split(separator: ".").map(String.init)
    let below = words.dropFirst()
    if words.first == "string", !below.isEmpty {
      return (["strings"] + below).joined(separator: ".")
    }
    if let start = words.first, !below.isEmpty, let container = containers[start] {
      let known = knownPaths.filter { $0.hasPrefix(start + ".") }
      let ends = known.map { String($0.dropFirst(start.count + 1)) }
      let near = nearestWord(to: below.joined(separator: "."), among: ends)
      return near.map { "\(start).\($0)" } ?? ([container] + below).joined(separator: ".")
    }
    return nearestWord(to: path, among: knownPaths)
  }

  /// Parses a path; nil if it is not among `knownPaths`.
  static func source(of path: String) -> Source? {
    let words = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard words.count >= 2, !words.contains("") else { return nil }
    let below = Array(words.dropFirst(2))
    switch (words[0], words[1]) {
    case ("ride", "attributes"): return .attributes(below)
    case ("event", "data"): return .eventData(below)
    case ("ride", "entered"): return below.count == 1 ? .entered(below[0]) : nil
    case ("me", _): return .me(Array(words.dropFirst()))
    case ("event", "name") where below.isEmpty: return .eventName
    case ("event", "at") where below.isEmpty: return .eventTime
    case ("ride", let field) where below.isEmpty:
      return RideField(rawValue: field).map { .ride($0) }
    default: return nil
    }
  }

  /// Whether its text is one of the words that `select` or `plural` has in the rule file.
  var choosesWords: Bool {
    filters.contains { filter in
      switch filter {
      case .select, .plural: true
      default: false
      }
    }
  }
}

/// One filter after a `|` in a placeholder.
package indirect enum Filter: Hashable, Sendable {
  /// `default: 'text'`: replaces a missing, null or empty value; `null` becomes JSON's null.
  case fallback(JSONValue)
  /// `time`: hours and minutes in the zone of `WallClock`; `08:05` where a program reads it.
  case time
  /// `date`: the day in that zone; `2026-11-21` where a program reads it.
  case date
  /// `weekday`: the day's name in that zone.
  case weekday
  /// `relative`: how far it is from now, such as `in 3 minutes`.
  case relative
  /// The zone of the filter after it: `time: 'Europe/Vienna'` is this and `time`.
  case zone(ZoneTimes)
  /// The phone's own zone for the filter after it: `time: phone` is this and `time`.
  case phoneZone
  /// `currency: 'EUR'`, or `minor-currency: 'EUR'`: an amount.
  case currency(CurrencyCode, inMinorUnits: Bool)
  /// `select: 'late=The driver was late|other=Cancelled'`: the text for a word.
  case select(SelectForms)
  /// `plural: 'one=# minute|other=# minutes'`: the form for a number.
  case plural(PluralForms)
  /// `int`: the whole part of a number.
  case int
  /// `epoch`: whole seconds since 1970, as a number.
  case epoch
  /// `upper`: in upper case.
  case upper
  /// `lower`: in lower case.
  case lower

  /// The filters without an argument, by name.
  static let plain: [String: Filter] = [
    "time": .time, "date": .date, "weekday": .weekday, "relative": .relative, "epoch": .epoch,
    "int": .int, "upper": .upper, "lower": .lower,
  ]
  /// The names of all filters.
  static let names = (plain.keys + withArgument).sorted()

  /// The filters that need an argument.
  static let withArgument = ["currency", "default", "minor-currency", "plural", "select"]

  /// The path of a currency's code, if a value of the ride or the event has it.
  var codePath: Placeholder? {
    if case .currency(.path(let path), _) = self { path } else { nil }
  }
}
