package import Base

/// What a recorded pass contains: the rows that its decision read, what APNs answered, and how its
/// pushes ended.
package struct PassContent: StoredObject, Hashable, Sendable {
  package var settledAt: Timestamp?
  package var decidedAt: Timestamp?
  package var ride: RideUpdate?
  package var events: [Row<Event>] = []
  /// With the time of their last contact.
  package var phones: [Row<Registration>] = []
  package var cards: [Row<Registration>] = []
  package var starts: [Row<Registration>] = []
  package var contacts: [Row<Participant>] = []
  package var optOuts: [OptOut] = []
  /// The IDs of pushes that apps have reported as seen.
  package var seen: [String] = []
  /// The owners of escalations whose apps have reported a receipt before.
  package var reporters: [Row<Participant>] = []
  package var answers: [Row<RecordedAnswer>] = []
  /// With the IDs of their pushes.
  package var outcomes: [Row<RecordedOutcome>] = []
  /// The events that rules emitted.
  package var emits: [Event] = []
  /// Whether not all phones were read: one that is missing is not gone.
  package var isPart = false

  package static var blank: PassContent { PassContent() }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("settled_at", &settledAt)
    try fields.field("decided_at", &decidedAt)
    try fields.field("ride", &ride)
    try fields.known("events", &events)
    try fields.known("phones", &phones)
    try fields.known("cards", &cards)
    try fields.known("starts", &starts)
    try fields.known("contacts", &contacts)
    try fields.known("opt_outs", &optOuts)
    try fields.parts("seen", &seen)
    try fields.known("reporters", &reporters)
    try fields.known("answers", &answers)
    try fields.known("outcomes", &outcomes)
    try fields.known("emits", &emits)
    try fields.flag("is_part", &isPart)
  }

  /// An event, of the ride or emitted by a rule.
  package struct Event: StoredObject, Hashable, Sendable {
    package var name = ""
    package var data: [String: JSONValue]?

    package static var blank: Event { Event() }

    package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
      try fields.field("event", &name)
      try fields.field("data", &data)
    }
  }

  /// A record with its time, and its ID if others refer to it.
  package struct Row<Record: StoredObject & Hashable & Sendable>: StoredObject, Hashable, Sendable {
    package var record = Record.blank
    package var at: Timestamp?
    package var id: String?

    package static var blank: Row { Row() }

    package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
      try record.visit(&fields)
      try fields.field("at", &at)
      try fields.field("id", &id)
    }
  }
}

extension StoredFields {
  /// A list that is there if it is not empty. Elements that this version can't read are left out: a
  /// later one may have written them.
  fileprivate mutating func known<Element: StoredObject>(
    _ key: String, _ elements: inout [Element]
  ) throws(StoredFault) {
    var list = elements.isEmpty ? nil : KnownElements(elements: elements)
    try field(key, &list)
    elements = list?.elements ?? []
  }
}

private struct KnownElements<Element: StoredObject>: StoredValue {
  let elements: [Element]

  init(elements: [Element]) { self.elements = elements }

  init(stored: JSONValue) throws(StoredFault) {
    guard case .array(let values) = stored else { throw StoredFault(stored, isNot: "a list") }
    elements = values.compactMap { try? Element(stored: $0) }
  }

  func store(in json: inout [UInt8]) { elements.store(in: &json) }
}

extension OptOut: StoredObject {
  package static var blank: OptOut { OptOut(app: .customer, owner: "", topic: "") }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("app", &app)
    try fields.field("owner_id", &owner)
    try fields.field("topic", &topic)
  }
}
