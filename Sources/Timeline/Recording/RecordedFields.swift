import Base
import RideCore

/// The members of an object in a recorded pass. What is missing or of another type is nil: a later
/// version may have written it.
struct RecordedFields: Hashable, Sendable {
  private let members: [String: JSONValue]

  init(_ value: JSONValue) {
    if case .object(let members) = value { self.members = members } else { members = [:] }
  }

  subscript(_ key: String) -> JSONValue? { members[key] }

  func text(_ key: String) -> String? {
    if case .string(let text)? = members[key] { text } else { nil }
  }

  func integer(_ key: String) -> Int64? {
    if case .integer(let number)? = members[key] { number } else { nil }
  }

  func flag(_ key: String) -> Bool { members[key] == .bool(true) }

  func time(_ key: String) -> Timestamp? { integer(key).map { Timestamp(microseconds: $0) } }

  func object(_ key: String) -> [String: JSONValue] {
    if case .object(let object)? = members[key] { object } else { [:] }
  }

  func list(_ key: String) -> [RecordedFields] {
    if case .array(let values)? = members[key] { values.map(RecordedFields.init) } else { [] }
  }
}

extension Participant {
  init?(_ fields: RecordedFields, _ names: Pseudonyms) {
    guard let app = fields.text("app"), let owner = fields.text("owner_id") else { return nil }
    self.init(app: App(rawValue: app), ownerID: OwnerID(names.id(.owner, owner)))
  }
}

extension DayToken {
  /// Reads a phone, a card or a start token.
  init?(_ fields: RecordedFields, _ names: Pseudonyms) {
    guard let app = fields.text("app"), let owner = fields.text("owner_id"),
      let token = fields.text("token")
    else { return nil }
    self.init(
      app: App(rawValue: app), ownerID: OwnerID(names.id(.owner, owner)), token: names.token(token))
    environment = fields.text("environment").flatMap { APNsEnvironment(rawValue: $0) }
    installationID = fields.text("installation_id").map {
      InstallationID(names.id(.installation, $0))
    }
    locale = fields.text("locale")
    activityID = fields.integer("activity").map { names.id(.activity, String($0)) }
    isFrequent = fields.flag("frequent")
    attributesType = fields.text("attributes_type")
    isRemoved = fields.flag("removed")
  }
}

extension DayAnswer {
  init(_ fields: RecordedFields, _ names: Pseudonyms) {
    self.init(
      token: names.token(fields.text("token") ?? ""), status: Int(fields.integer("status") ?? 0))
    reason = fields.text("reason")
    timestamp = fields.time("timestamp")
    after = .microseconds(fields.integer("after_us") ?? 0)
  }
}

extension DayOutcome {
  init?(_ fields: RecordedFields, ride: RideID, _ names: Pseudonyms) {
    guard let status = fields.text("status").flatMap({ LedgerEntry.Status(rawValue: $0) }) else {
      return nil
    }
    let push = DayPush(
      ride: ride, rule: fields.text("rule") ?? "",
      token: fields.text("token").map(names.token))
    self.init(push, status)
    reason = fields.text("reason")
    app = fields.text("app").map(App.init(rawValue:))
    event = fields.text("event")
    eventAt = fields.time("event_at")
    type = fields.text("type").flatMap { PushType(rawValue: $0) }
    priority = fields.integer("priority").flatMap { PushPriority(rawValue: Int($0)) }
    cardEvent = fields.text("card").flatMap { CardEvent(rawValue: $0) }
  }
}
