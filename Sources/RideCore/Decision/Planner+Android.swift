import Base

// Pushes to Android phones, which leave through FCM.
extension Planner {
  /// Returns the push of this rule to an Android phone.
  mutating func androidPush(
    _ entry: LedgerEntry, to phone: Phone, validUntil: Timestamp
  ) throws(Problem) -> PlannedPush {
    let message = rule.message
    if let refusal = message.refusal { throw Problem(status: .suppressed, reason: refusal) }
    let registration = try Self.registration(of: phone, configuration)
    let person = PhoneOwner(phone)
    let tag = try collapseID(for: person)
    let body = try self.body(message, for: person, phone.texts, validUntil: validUntil)
      .body(id: entry.id, tag: tag?.text, to: registration)
    if let problem = AndroidSize.problem(of: body) {
      throw Problem(status: .rejected, reason: problem)
    }
    let headers = PushHeaders(
      id: entry.id, topic: "", pushType: entry.pushType,
      priority: message.isHighPriority ? .immediate : .powerAware,
      expiration: rule.expires.isStored ? .at(validUntil) : .neverStore,
      collapseID: tag ?? CollapseID(entry.id.description))
    return PlannedPush(
      entry: entry,
      PushRequest(
        network: .android, address: .registration(registration), headers: headers, payload: body,
        validUntil: validUntil),
      isToRefusedPhone: (phone.problem?.refusals ?? 0) > 0,
      acceptedReason: doubt(about: message.clocks, phone.texts), image: image)
  }

  /// Returns a phone's address at FCM; throws if it has none, or its app has no service account.
  static func registration(
    of phone: Phone, _ configuration: EngineConfiguration
  ) throws(Problem) -> FCMRegistration {
    try checkServiceAccount(of: phone.app, configuration)
    guard let registration = FCMRegistration(phone.token) else {
      throw Problem(
        status: .suppressed,
        reason: LedgerReason(.badToken, "the phone's token is not an FCM registration"))
    }
    return registration
  }

  /// Throws if an app's messages can't leave.
  static func checkServiceAccount(
    of app: App, _ configuration: EngineConfiguration
  ) throws(Problem) {
    if configuration.androidApps.contains(app) { return }
    throw Problem(status: .suppressed, reason: .noServiceAccount(of: app))
  }

  /// Returns the message for the phones of one person that have these texts.
  private mutating func body(
    _ message: CompiledMessage, for person: PhoneOwner, _ texts: PhoneTexts, validUntil: Timestamp
  ) throws(Problem) -> AndroidBody {
    let key = payloadKey(
      for: person, texts, isLocalized: message.isLocalized, readsMe: message.readsMe,
      message.clocks)
    let rendered: Result<AndroidBody, RenderingError>
    if let known = androidBodies[key] {
      rendered = known
    } else {
      rendered = Result { () throws(RenderingError) in
        let context =
          message.readsMe ? context.addressed(to: person.owner, in: person.app) : context
        return try message.render(
          in: context.on(key.texts), locale: key.texts.locale, validUntil: validUntil,
          ttl: rule.expires.isStored ? validUntil - now : .zero)
      }
      androidBodies[key] = rendered
    }
    switch rendered {
    case .failure(let error): throw Problem(status: .suppressed, reason: error.ledgerReason)
    case .success(let body): return body
    }
  }
}

extension LedgerReason {
  package static func noServiceAccount(of app: App) -> LedgerReason {
    LedgerReason(
      .noServiceAccount,
      "no service account for \(app): set FCM_\(app.variableName)_SERVICE_ACCOUNT_PATH or "
        + "FCM_SERVICE_ACCOUNT_PATH")
  }

  /// What only Apple's systems have.
  static func appleOnly(_ what: PushType) -> LedgerReason {
    LedgerReason(.appleOnly, "\(what.rawValue) pushes reach iPhones only")
  }

  static let badgeOnly = LedgerReason(
    .appleOnly, "a badge or a sound without a text reaches iPhones only")

  static func reserved(_ key: String) -> LedgerReason {
    LedgerReason(
      .reservedKey,
      "data has the key \(key.quotedBrief), which FCM or RidePulse keeps to itself: rename it")
  }

  static let alertsOff = LedgerReason(.alertsOff, "the phone's notifications are turned off")
}
