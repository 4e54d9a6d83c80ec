/// One key of the rule format.
struct Key: Sendable {
  let name: String
  var form: ValueForm
  /// What the key means, for the docs and for editors; empty if neither lists its mapping.
  let summary: String
  /// What to write if the key is missing; nil if it is optional.
  var required: String?
  /// The keys of `nextTo` next to which it is optional.
  var optionalNextTo: [String]
  /// The key that this one needs in the same mapping, and why.
  var partner: (name: String, why: String)?
  /// The keys of the same mapping one of which gives this key its meaning; empty if it needs none.
  ///
  /// A flag counts only if it is true.
  var nextTo: [String]
  /// The keys of the same mapping that exclude this one.
  var excludedBy: [String]
  /// What to write instead, if `nextTo` or `excludedBy` is violated.
  var otherwise: String

  init(
    _ name: String, _ form: ValueForm, _ summary: String, required: String? = nil,
    optionalNextTo: [String] = [], partner: (name: String, why: String)? = nil,
    nextTo: [String] = [], excludedBy: [String] = [], otherwise: String = ""
  ) {
    self.name = name
    self.form = form
    self.summary = summary
    self.required = required
    self.optionalNextTo = optionalNextTo
    self.partner = partner
    self.nextTo = nextTo
    self.excludedBy = excludedBy
    self.otherwise = otherwise
  }
}

/// The keys of one kind of mapping.
struct MappingForm: Sendable {
  /// What messages call it, such as `a rule`.
  let subject: String
  /// In the order in which messages and docs list them.
  let keys: [Key]
  /// Groups of keys; exactly one key of each is needed.
  var exactlyOne: [[String]] = []
  /// Keys at least one of which is needed.
  var atLeastOne: [String] = []

  var names: [String] { keys.map(\.name) }

  subscript(name: String) -> Key? { keys.first { $0.name == name } }

  /// Returns a hint for each key, for the message about a key that belongs into this mapping.
  func each(belongs hint: String) -> [String: String] {
    Dictionary(keys.map { ($0.name, hint) }) { first, _ in first }
  }
}

/// The values that a key accepts.
indirect enum ValueForm: Sendable {
  case word(WordForm)
  /// A list of distinct words, at least one.
  case words
  case oneOrMoreWords
  /// A word of another form, or a list of distinct ones.
  case oneOrMore(WordForm, such: String)
  /// A text with placeholders that is not empty.
  case text(expected: String)
  /// A text, or a map of locale to text.
  case localizedText
  case texts
  case flag
  case choice([String])
  case integer(ClosedRange<Int64>)
  /// 10, 5 or 1.
  case priority
  /// The number 1.
  case one
  case number(ClosedRange<Double>?, expected: String)
  /// A number, or one placeholder.
  case badge
  case duration(such: String, limit: (longest: Duration, why: String)? = nil)
  /// A duration, or `ride`.
  case periodOrRide(limit: (longest: Duration, why: String))
  /// A duration, or `0s`.
  case delay(such: String)
  case expiry
  case rideTime
  /// An expression in CEL.
  case expression
  /// A map of attribute to type.
  case attributeTypes
  /// Names of attributes, at least one.
  case attributes
  /// One placeholder and nothing else.
  case placeholder(expected: String)
  /// A list of states, each alone or as such a mapping.
  case steps(MappingForm)
  /// Times of `at`: a base with an offset, or a list.
  case times
  case cron
  /// `ride`, or the name of a zone.
  case timeZone
  /// `ride`, `phone`, or the name of a zone.
  case zoneOfQuietHours
  /// The name of a zone.
  case zoneName
  /// `HH:MM`.
  case timeOfDay
  case missed
  /// An event or a list of events, or a map of event to a duration, which may be zero, or to such a
  /// mapping.
  case ends(MappingForm, longest: Duration, why: String)
  /// A duration, or a map of state to duration with `default`.
  case durationByState(such: String, limit: (longest: Duration, why: String))
  /// A time of the ride, and an offset.
  case opening
  /// The type of a card's field.
  case fieldType
  /// A map of event to number.
  case numberByEvent
  case typeName
  /// A JSON object whose texts may contain placeholders, without the reserved key.
  case payload(reserved: String? = nil)
  /// The fields of a card: a JSON object, each value of which may be a typed field.
  case cardFields
  /// The value of a typed field.
  case fieldValue
  case emptyMapping
  case mapping(MappingForm)
  /// One of such mappings, each by the key of the rule next to which it is.
  case mappingNextTo([(key: String, form: MappingForm)])
  /// `off`, or such a mapping.
  case offOrMapping(MappingForm)
  /// A text, or such a mapping.
  case textOrMapping(expected: String, MappingForm)
  case mappings(MappingForm)
  /// A map of app to such a mapping.
  case mappingByApp(MappingForm)
  /// A map of event to such a mapping.
  case mappingByEvent(MappingForm)
}

/// The allowed form of a name in the rule files.
enum WordForm: Sendable {
  /// A rule's name, which is used in the ledger, in commands and in metrics.
  case ruleName
  /// An app, which becomes part of the name of an environment variable.
  case app
  /// A state or an event that the service defines.
  case event
  /// A kind of notification that a person can turn off.
  case topic
  /// An attribute of rides, which a placeholder can name.
  case attribute
  /// A language tag such as `de` or `pt-BR`.
  case locale
  /// A receiver of posts, which becomes part of the name of an environment variable.
  case receiver
  /// A notification channel of an Android app.
  case channel

  /// The maximum number of letters of a name.
  static let lengthLimit = 64

  /// The maximum number of letters of a name of this form.
  var longest: Int { self == .channel ? 60 : Self.lengthLimit }

  /// A description of the allowed form, for messages.
  var rule: String {
    switch self {
    case .ruleName: "a name of a-z, 0-9 and -, at most 64, such as driver-arrived"
    case .app: "an app such as customer or driver: a-z, 0-9, - and _, at most 64"
    case .topic: "a topic such as arrival: a-z, 0-9, - and _, at most 64"
    case .receiver: "a receiver such as sms: a-z, 0-9, - and _, at most 64"
    case .channel: "a channel such as ride_now: a-z, 0-9, -, _ and ., at most 60"
    case .attribute: "a name of letters, digits, _ and -, at most 64, such as eta_epoch"
    case .locale: "a locale such as en or pt-BR"
    case .event: "a word of letters, digits, _, - and ., at most 64, such as driver_arrived"
    }
  }

  /// Returns the word with disallowed letters corrected; nil if the result is not allowed either.
  func repaired(_ word: String) -> String? {
    guard !word.contains("{{"), word.utf8.count <= longest,
      word.utf8.allSatisfy({ $0 < 0x80 })
    else { return nil }
    let keepsCase = self == .event || self == .locale || self == .attribute
    let cased = keepsCase ? word : word.lowercased()
    let letters = cased.split { !allows(String($0)) }
    let repaired = letters.joined(separator: self == .ruleName ? "-" : "_")
    return allows(repaired) ? repaired : nil
  }

  func allows(_ word: String) -> Bool {
    guard (1...longest).contains(word.utf8.count) else { return false }
    return word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        true
      case UInt8(ascii: "_"): self != .ruleName
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        self == .event || self == .locale || self == .attribute
      case UInt8(ascii: "."): self == .event || self == .channel
      default: false
      }
    }
  }
}
