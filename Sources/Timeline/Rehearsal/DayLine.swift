package import Base
package import RideCore

/// One line of a day after the header: something that happened, and when.
package struct DayLine: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case change(Change)
    /// What APNs answered to a push.
    case answer(RecordedAnswer)
    /// How a push ended.
    case outcome(RecordedOutcome)
  }

  package var at: Timestamp
  package var content: Content

  package init(at: Timestamp, _ content: Content) {
    self.at = at
    self.content = content
  }
}

extension DayLine {
  /// The line without its line feed.
  package var json: [UInt8] {
    var (json, content): ([UInt8], Content) = ([], content)
    FieldWriter.object(in: &json, isOfFile: true) { fields in try? content.visit(&fields) }
    guard let kind = content.kind else { return [] }
    let start = "{\"at\":\"\(CivilTime.exact(at))\","
    if kind == .event { return Array(start.utf8) + json.dropFirst() }
    return Array("\(start)\"\(kind.rawValue)\":".utf8) + json + [UInt8(ascii: "}")]
  }

  /// The keys of all lines.
  private static let keys = ["at", "data"] + Kind.allCases.map(\.rawValue)

  init(_ value: JSONValue) throws(StoredFault) {
    var fields = try FieldReader(ofFile: value, keys: Self.keys)
    var time = Timestamp(microseconds: 0)
    try fields.field(
      "at", &time, as: .time,
      or: StoredFault("missing", expected: "a time such as 2026-11-21T08:00:00Z"))
    let kinds = Kind.allCases.filter { fields[$0.rawValue] != nil }
    let isEvent = kinds.contains(.event) && kinds.allSatisfy { $0 == .event || $0 == .ride }
    guard let kind = isEvent ? .event : kinds.first, isEvent || kinds.count == 1 else {
      let names = kinds.map(\.rawValue).joined(separator: " and ")
      let all = Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw StoredFault(
        kinds.isEmpty ? "nothing that happens" : "\(names) in one line",
        expected: "at and one of " + all)
    }
    at = time
    content = kind.blank
    if isEvent {
      try content.visit(&fields)
      return
    }
    if fields["data"] != nil {
      throw StoredFault("without an event", expected: "it next to event").within("data")
    }
    do throws(StoredFault) {
      var own = try FieldReader(ofFile: fields[kind.rawValue] ?? .null, keys: kind.keys)
      try content.visit(&own)
    } catch {
      throw error.within(kind.rawValue)
    }
  }

  /// What a line is about: the key of its object, in the order in which mistakes list them.
  enum Kind: String, CaseIterable {
    case ride, event, phone, card
    case pushToStart = "push_to_start"
    case contact, seen, preference, answer, outcome

    /// The content of a line that is still to be read.
    fileprivate var blank: Content {
      switch self {
      case .ride: .change(.ride(.blank))
      case .event: .change(.event(.blank))
      case .phone: .change(.phone(.blank))
      case .card: .change(.card(.blank))
      case .pushToStart: .change(.pushToStart(.blank))
      case .contact: .change(.contact(.blank))
      case .seen: .change(.seen(.blank))
      case .preference: .change(.preference(.blank))
      case .answer: .answer(.blank)
      case .outcome: .outcome(.blank)
      }
    }

    /// The keys that each kind's object may have.
    private static let all = Dictionary(
      uniqueKeysWithValues: allCases.map { kind in
        var (content, keys) = (kind.blank, FieldKeys())
        try? content.visit(&keys)
        return (kind, keys.keys.filter { !kind.foreign.contains($0) })
      })

    fileprivate var keys: [String] { Self.all[self] ?? [] }

    /// The keys of other kinds of registrations.
    private var foreign: [String] {
      switch self {
      case .phone: ["ride", "activity_id", "attributes_type", "frequent"]
      case .card: ["attributes_type", "locale", "time_zone"]
      case .pushToStart: ["ride", "activity_id", "locale", "time_zone", "frequent"]
      default: []
      }
    }
  }
}

extension DayLine.Content {
  /// Nil for a change that no line states: what APNs answers from now on.
  fileprivate var kind: DayLine.Kind? {
    switch self {
    case .change(.ride): .ride
    case .change(.event): .event
    case .change(.phone): .phone
    case .change(.card): .card
    case .change(.pushToStart): .pushToStart
    case .change(.contact): .contact
    case .change(.seen): .seen
    case .change(.preference): .preference
    case .change(.answers): nil
    case .answer: .answer
    case .outcome: .outcome
    }
  }

  /// Visits the fields of its object.
  fileprivate mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    switch self {
    case .change(.ride(let ride)): self = .change(.ride(try ride.visited(by: &fields)))
    case .change(.event(let event)): self = .change(.event(try event.visited(by: &fields)))
    case .change(.phone(let phone)): self = .change(.phone(try phone.visited(by: &fields)))
    case .change(.card(let blank)):
      let card = try blank.visited(by: &fields)
      self = .change(.card(card))
      if card.ride == nil {
        throw StoredFault("missing", expected: "the card's ride").within("ride")
      }
    case .change(.pushToStart(let start)):
      self = .change(.pushToStart(try start.visited(by: &fields)))
    case .change(.contact(let contact)): self = .change(.contact(try contact.visited(by: &fields)))
    case .change(.seen(let push, _)): self = .change(.seen(try push.visited(by: &fields)))
    case .change(.preference(let choice)):
      self = .change(.preference(try choice.visited(by: &fields)))
    case .change(.answers): break
    case .answer(let answer): self = .answer(try answer.visited(by: &fields))
    case .outcome(let outcome): self = .outcome(try outcome.visited(by: &fields))
    }
  }
}
