import Base

/// Makes one rule's pushes about one event, rendering each text once for all phones that share it.
struct Planner {
  let rule: CompiledRule
  let context: TemplateContext
  /// The row that the texts show, if the recipient is a former owner.
  let image: RideImage?
  let configuration: EngineConfiguration
  let now: Timestamp
  /// By what the payload reads of a phone, and by the person if it differs between people.
  private var payloads: [PayloadKey: Result<[UInt8], RenderingError>] = [:]
  private var collapse: Result<CollapseID?, Problem>?
  /// Likewise, the messages to Android phones.
  var androidBodies: [PayloadKey: Result<AndroidBody, RenderingError>] = [:]

  init(
    rule: CompiledRule, context: TemplateContext, image: RideImage?,
    configuration: EngineConfiguration, now: Timestamp
  ) {
    self.rule = rule
    self.context = context
    self.image = image
    self.configuration = configuration
    self.now = now
  }

  struct PayloadKey: Hashable {
    var texts: PhoneTexts
    var person: PhoneOwner?
  }

  /// Why a push ends before it is sent.
  struct Problem: Error {
    var status: LedgerEntry.Status
    var reason: LedgerReason
  }

  /// Returns the push of this rule to one phone.
  mutating func push(_ entry: LedgerEntry, to phone: Phone) throws(Problem) -> PlannedPush {
    let validUntil = entry.event.firing + rule.validity
    try Self.check(validUntil, at: now)
    if phone.platform == .android {
      return try androidPush(entry, to: phone, validUntil: validUntil)
    }
    let topic = try Self.topic(of: entry.app, rule.pushType, configuration)
    guard let token = DeviceToken(phone.token) else {
      throw Problem(
        status: .suppressed, reason: LedgerReason(.badToken, "the phone's token is not hexadecimal")
      )
    }
    var payload = try payload(for: PhoneOwner(phone), phone.texts)
    if rule.carriesID {
      Self.add(entry.id, to: &payload)
      try Self.check(payload)
    }
    let collapseID = try collapseID(for: PhoneOwner(phone)) ?? CollapseID(entry.id.description)
    let expiration: PushExpiration = rule.expires.isStored ? .at(validUntil) : .neverStore
    let headers = PushHeaders(
      id: entry.id, topic: topic, pushType: entry.pushType, priority: rule.priority,
      expiration: expiration, collapseID: collapseID)
    return PlannedPush(
      entry, headers, payload, to: phone, token: token, validUntil: validUntil, by: configuration,
      acceptedReason: doubt(about: rule.payload.clocks, phone.texts), image: image)
  }

  /// Returns the ledger's reason of a push whose times are in other zones than they were to be.
  func doubt(about clocks: Set<WallClock.Owner>, _ texts: PhoneTexts) -> LedgerReason? {
    clocks.isEmpty ? nil : context.on(texts).doubt(about: clocks)
  }

  /// Adds the push's ID to a payload that several phones share.
  private static func add(_ id: PushID, to payload: inout [UInt8]) {
    guard payload.last == UInt8(ascii: "}"), payload.count > 2 else { return }
    payload.removeLast()
    payload += Array(",\"\(Rule.idKey)\":\"\(id)\"}".utf8)
  }

  /// Sets the collapse ID that a push of this rule would have, before the push is made.
  mutating func setCollapseID(of entry: inout LedgerEntry) {
    let person = entry.owner.map { PhoneOwner(entry.app, $0) }
    entry.collapseID = (try? collapseID(for: person))?.text ?? entry.collapseID
  }

  /// Returns the `apns-topic` of an app's pushes of some type.
  static func topic(
    of app: App, _ pushType: PushType, _ configuration: EngineConfiguration
  ) throws(Problem) -> String {
    if let topic = configuration.topic(of: app, pushType) { return topic }
    let name = "APNS_\(app.variableName)_BUNDLE_ID"
    throw Problem(
      status: .suppressed, reason: LedgerReason(.noBundleID, "no bundle ID for \(app): set \(name)")
    )
  }

  /// Throws if a push is no longer valid.
  static func check(_ validUntil: Timestamp, at now: Timestamp) throws(Problem) {
    if now < validUntil { return }
    throw Problem(status: .expired, reason: .validUntil(validUntil))
  }

  /// Throws if APNs would refuse the payload as too large.
  static func check(
    _ payload: [UInt8], atMost limit: Int = PushRequest.payloadLimit
  ) throws(Problem) {
    if payload.count <= limit { return }
    throw Problem(
      status: .rejected,
      reason: LedgerReason(
        .service("PayloadTooLarge"), PayloadSize.description(of: payload, limit: limit)))
  }

  /// Returns the payload for the phones of one person that have these texts.
  mutating func payload(
    for person: PhoneOwner, _ texts: PhoneTexts
  ) throws(Problem) -> [UInt8] {
    let isPersonal = rule.payload.readsMe
    let key = payloadKey(
      for: person, texts, isLocalized: rule.payload.isLocalized, readsMe: isPersonal,
      rule.payload.clocks)
    let payload: Result<[UInt8], RenderingError>
    if let known = payloads[key] {
      payload = known
    } else {
      payload = Result { () throws(RenderingError) in
        let context =
          isPersonal ? context.addressed(to: person.owner, in: person.app) : context
        return try rule.payload.render(in: context.on(key.texts), locale: key.texts.locale)
      }
      payloads[key] = payload
    }
    switch payload {
    case .failure(let error): throw Problem(status: .suppressed, reason: error.ledgerReason)
    case .success(let bytes):
      if rule.post == nil { try Self.check(bytes) }
      return bytes
    }
  }

  /// Returns what a text depends on: a cache by more would render it for each phone.
  func payloadKey(
    for person: PhoneOwner, _ texts: PhoneTexts, isLocalized: Bool, readsMe: Bool,
    _ clocks: Set<WallClock.Owner>
  ) -> PayloadKey {
    let readsZone = clocks.contains(.phone) || !context.hasRide && !clocks.isEmpty
    let texts = PhoneTexts(
      locale: isLocalized ? texts.locale : nil, timeZone: readsZone ? texts.timeZone : nil)
    return PayloadKey(texts: texts, person: readsMe ? person : nil)
  }

  /// Returns the collapse ID that the rule states; nil if it states none.
  ///
  /// A push without one collapses with its own repeats: see `push(_:to:)`.
  mutating func collapseID(for person: PhoneOwner?) throws(Problem) -> CollapseID? {
    guard let template = rule.collapse else { return nil }
    if template.readsMe, let person {
      return try Self.collapse(template, context.addressed(to: person.owner, in: person.app))
    }
    let result = collapse ?? Result { () throws(Problem) in try Self.collapse(template, context) }
    collapse = result
    return try result.get()
  }

  private static func collapse(
    _ template: TextTemplate, _ context: TemplateContext
  ) throws(Problem) -> CollapseID? {
    let text: String
    do {
      text = try context.text(of: template)
    } catch {
      throw Problem(status: .suppressed, reason: error.ledgerReason)
    }
    guard let id = CollapseID(text) else {
      throw Problem(
        status: .rejected,
        reason: LedgerReason(
          .service("BadCollapseId"),
          "BadCollapseId: collapse gives \(text.utf8.count) bytes, 1 to 64 are allowed"))
    }
    return id
  }
}

/// Describes payloads that are too large for APNs.
enum PayloadSize {
  /// Returns a message with the payload's size and the largest text, number or list element in it.
  static func description(of payload: [UInt8], limit: Int) -> String {
    "PayloadTooLarge: \(payload.count) bytes of \(limit); "
      + "the largest field is \(largestField(of: payload))"
  }

  /// Returns the path and the size of the largest text, number or list element of a JSON text.
  static func largestField(of json: [UInt8]) -> String {
    var largest = (path: "payload", size: 0)
    if let value = JSONValue(json: json) { find(value, at: "", &largest) }
    return "\(largest.path) with \(largest.size)"
  }

  private static func find(
    _ value: JSONValue, at path: String, _ largest: inout (path: String, size: Int)
  ) {
    switch value {
    case .object(let members):
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        find(member, at: path.isEmpty ? key : path + "." + key, &largest)
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        find(element, at: "\(path)[\(index)]", &largest)
      }
    default:
      let size = value.json.count
      if size > largest.size { largest = (path, size) }
    }
  }
}
