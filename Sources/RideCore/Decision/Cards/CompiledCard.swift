import Base

/// The content of one rule's cards for a ride now, rendered once for all that show the same texts.
struct RenderedCard {
  let state: [UInt8]?
  /// The fingerprint of the content, equal for equal content; nil if there is none.
  let shown: String?
  /// What an Android phone shows of it; nil for an iPhone, and if the rule leaves it to the app.
  private(set) var look: [UInt8]?
  /// Why the content could not be rendered.
  let problem: LedgerReason?
  /// Why optional fields of it are null although they have a value.
  private(set) var broken: [RenderingError] = []

  /// - Parameters:
  ///   - content: What is rendered; the card's own content unless it is stated.
  ///   - isAndroid: Whether it is for Android phones, whose limit is that of the whole message.
  init(
    _ rule: CardRule, _ content: CompiledPayload? = nil, in context: TemplateContext?,
    for texts: PhoneTexts = .unknown, isAndroid: Bool = false
  ) {
    guard let context = context?.on(texts) else {
      (state, shown, problem) = (nil, nil, nil)
      return
    }
    do throws(RenderingError) {
      let state = try (content ?? rule.compiled.contentState).render(
        in: context, locale: texts.locale, broken: &broken)
      let text = String(decoding: state, as: UTF8.self)
      if isAndroid {
        look = rule.compiled.look?.render(in: context, locale: texts.locale, broken: &broken)
        shown = PushID(of: text, String(decoding: look ?? [], as: UTF8.self)).description
      } else if let problem = rule.compiled.sizeProblem(of: state, in: context, texts.locale) {
        (self.state, shown, self.problem) = (nil, nil, problem)
        return
      } else {
        shown = PushID(of: text).description
      }
      self.state = state
      problem = nil
    } catch {
      (state, shown, problem) = (nil, nil, error.ledgerReason)
    }
  }
}

/// The prepared parts of a card's payload: what all pushes share is encoded once, at load.
struct CompiledCard: Sendable {
  let contentState: CompiledPayload
  /// The content of cards that these events and states have ended, if `end` changes it.
  let endContents: [String: CompiledPayload]
  let attributes: CompiledPayload
  /// `android`; nil without it.
  let look: CompiledLook?
  /// False for a broadcast card: nothing is started, and attributes go with a start only.
  private let sendsAttributes: Bool
  let alerts: [String: CompiledPayload]
  /// Custom keys next to `aps`.
  private let data: [(key: String, value: CompiledPayload)]
  /// Whether phones may receive different custom keys.
  let dataVariesByPhone: Bool
  /// The clocks by which pushes show times, whatever their event is.
  private let clocksOfAll: Set<WallClock.Owner>

  /// - Parameter states: the values of fields of type `state`.
  init(
    _ life: LiveActivity, data: [String: PayloadTemplate], states: Set<String>,
    defaultLocale: String?
  ) {
    contentState = CompiledPayload(
      fields: life.contentState, path: "content-state", states: states,
      defaultLocale: defaultLocale)
    endContents = Dictionary(
      uniqueKeysWithValues: life.endContents.map { event, changes in
        // An end that is no state may be shown as one.
        let payload = CompiledPayload(
          fields: life.contentState.merging(changes) { $1 }, path: "content-state",
          states: states.union([event]), defaultLocale: defaultLocale)
        return (event, payload)
      })
    attributes = CompiledPayload(
      fields: life.attributes, path: "attributes", states: states, defaultLocale: defaultLocale)
    look = life.android.map { CompiledLook($0, defaultLocale: defaultLocale) }
    sendsAttributes = life.broadcast == nil
    let needed = Set(life.start).union(life.alerts.keys)
    alerts = Dictionary(
      uniqueKeysWithValues: needed.map { event in
        let alert = life.alerts[event] ?? CardAlert(standingInFor: event)
        return (event, CompiledPayload(alert.template, defaultLocale: defaultLocale))
      })
    self.data = data.map { ($0.key, CompiledPayload($0.value, defaultLocale: defaultLocale)) }
    dataVariesByPhone = self.data.contains(where: \.value.variesByPhone)
    clocksOfAll = self.data.reduce(contentState.clocks.union(attributes.clocks)) {
      $0.union($1.value.clocks)
    }
  }

  /// Returns the clocks by which a push about an event shows times.
  func clocks(_ event: String) -> Set<WallClock.Owner> {
    var clocks = clocksOfAll
    if let content = endContents[event] { clocks.formUnion(content.clocks) }
    if let alert = alerts[event] { clocks.formUnion(alert.clocks) }
    return clocks
  }

  /// Returns why ActivityKit would drop a card with this content; nil if it would not.
  ///
  /// Attributes that need an event can't be rendered here; a start with them is within the limit if
  /// its whole payload is.
  func sizeProblem(
    of state: [UInt8], in context: TemplateContext, _ locale: String?
  ) -> LedgerReason? {
    let room = LiveActivity.dataLimit - state.count
    // Nearly every card is far below the limit, which shows without rendering its attributes.
    if let bound = sendsAttributes ? attributes.sizeBound(in: context) : 0, bound <= room {
      return nil
    }
    let fixed = sendsAttributes ? (try? attributes.render(in: context, locale: locale)) ?? [] : []
    if fixed.count <= room { return nil }
    return LedgerReason(
      .cardTooLarge,
      "\(sendsAttributes ? "attributes and content-state have" : "content-state has") "
        + "\(fixed.count + state.count) bytes, ActivityKit takes \(LiveActivity.dataLimit); "
        + "the largest field of content-state is \(PayloadSize.largestField(of: state))")
  }

  /// Returns the custom keys of a message.
  func customData(
    in context: TemplateContext, _ locale: String?
  ) throws(RenderingError) -> [(key: String, json: [UInt8])] {
    var members: [(key: String, json: [UInt8])] = []
    for (key, value) in data {
      members.append((key, try value.render(in: context, locale: locale)))
    }
    return members
  }

  /// Returns the whole JSON, with its keys sorted, as everywhere.
  func payload(
    _ aps: [(key: String, json: [UInt8])], in context: TemplateContext?, for texts: PhoneTexts
  ) throws(RenderingError) -> [UInt8] {
    var members: [(key: String, json: [UInt8])] = [("aps", Self.object(aps))]
    if let context = context?.on(texts) {
      members += try customData(in: context, texts.locale)
    }
    return Self.object(members)
  }

  private static func object(_ members: [(key: String, json: [UInt8])]) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(members.reduce(2) { $0 + $1.key.utf8.count + $1.json.count + 4 })
    json.append(UInt8(ascii: "{"))
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json.append(json: member.key)
      json.append(UInt8(ascii: ":"))
      json += member.json
    }
    json.append(UInt8(ascii: "}"))
    return json
  }
}

extension LiveActivity {
  /// Returns the `aps` members of a push, except content-state and alert.
  func members(
    _ event: CardEvent, timestamp: Int64, staleAt: Timestamp? = nil, dismissalAt: Timestamp? = nil,
    score: Double?
  ) -> [(key: String, json: [UInt8])] {
    var members: [(key: String, json: [UInt8])] = [
      ("event", JSONValue.string(event.rawValue).json),
      ("timestamp", JSONValue.integer(timestamp).json),
    ]
    if let staleAt {
      members.append(("stale-date", JSONValue.integer(staleAt.epochSeconds).json))
    }
    if let score { members.append(("relevance-score", JSONValue.number(score).json)) }
    if let dismissalAt {
      members.append(("dismissal-date", JSONValue.integer(dismissalAt.epochSeconds).json))
    }
    return members
  }

  /// Returns the template of the largest payload that the rule can produce: a start.
  func template(data: [String: PayloadTemplate]) -> PayloadTemplate {
    let second = PayloadTemplate.literal(.integer(1_800_000_000))
    let loudest = alerts.sorted { $0.key < $1.key }.first?.value ?? CardAlert(standingInFor: "")
    var aps: [String: PayloadTemplate] = [
      "event": .literal(.string("start")), "timestamp": second, "stale-date": second,
      "attributes-type": .literal(.string(attributesType)), "attributes": .object(attributes),
      "content-state": .object(contentState), "alert": loudest.template,
    ]
    let score = relevanceScore ?? relevance.values.max()
    aps["relevance-score"] = score.map { .literal(.number($0)) }
    if wantsPushToken { aps["input-push-token"] = .literal(.integer(1)) }
    aps["input-push-channel"] = pushChannel.map { .value($0) }
    return .object(data.merging(["aps": .object(aps)]) { _, aps in aps })
  }
}
