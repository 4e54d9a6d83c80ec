import Base

/// A rule's message to Android phones with its payload prepared: an alert or a background push.
///
/// The system draws an alert, unless it can't: then the app gets the texts as data and draws it.
struct CompiledMessage: Sendable {
  /// One key of `data` or `android.notification`.
  private struct Field: Sendable {
    /// How the values become the field's.
    enum Form: Sendable {
      case value
      /// Texts, each on a line of its own.
      case lines
      /// A whole number above zero; any other value sets nothing.
      case count
    }

    let key: String
    let values: [CompiledPayload]
    var form = Form.value
  }

  let kind: AndroidMessage.Kind
  /// Whether the app draws it, and not the system.
  let isDrawnByApp: Bool
  let isHighPriority: Bool
  /// Why Android phones do not receive it; nil if they do.
  private(set) var refusal: LedgerReason?
  /// Whether phones with different locales may receive different texts.
  private(set) var isLocalized = false
  /// Whether people may receive different texts in one locale.
  private(set) var readsMe = false
  /// The clocks by which it shows times.
  private(set) var clocks: Set<WallClock.Owner> = []
  private var data: [Field] = []
  private var notification: [Field] = []
  private let defaultLocale: String?

  init(_ rule: Rule, defaultLocale: String? = nil) {
    self.defaultLocale = defaultLocale
    isHighPriority = rule.android?.isHighPriority ?? (rule.what.priority == .immediate)
    guard case .alert(let alert, _) = rule.what else {
      kind = .background
      isDrawnByApp = true
      if rule.what != .background { refusal = .appleOnly(rule.what.pushType) }
      add(rule.data)
      return
    }
    kind = .alert
    isDrawnByApp = alert.isDrawnByApp(rule)
    if !alert.hasText, !isDrawnByApp { refusal = .badgeOnly }
    if isDrawnByApp {
      addTexts(of: alert, to: \.data, prefix: "rp_", separator: "_key", arguments: "_args")
      addDrawing(of: alert, rule.android)
    } else {
      addTexts(
        of: alert, to: \.notification, prefix: "", separator: "_loc_key", arguments: "_loc_args")
      addNotification(of: alert, rule.android)
    }
    add(rule.data)
  }

  /// Returns the message for one ride, event and locale, but for what is a single phone's.
  ///
  /// - Parameters:
  ///   - validUntil: until when RidePulse sends it, and the app shows it.
  ///   - ttl: how long FCM may store it.
  func render(
    in context: TemplateContext, locale: String?, validUntil: Timestamp, ttl: Duration
  ) throws(RenderingError) -> AndroidBody {
    var message = AndroidMessage(kind, isHighPriority: isHighPriority, ttl: ttl)
    message.setCommon(
      ts: context.event.at.epochSeconds, ride: context.hasRide ? context.ride.id : nil,
      until: validUntil)
    for field in data {
      guard let json = try Self.json(of: field, in: context, locale) else { continue }
      message.set(field.key, json: json)
    }
    if kind == .alert, isDrawnByApp { message.setTag() }
    if isDrawnByApp { return message.encoded }
    for field in notification {
      guard let json = try Self.json(of: field, in: context, locale) else { continue }
      message.notify(field.key, .json(json))
    }
    let time = JSONValue.string(CivilTime.iso(context.event.firing)).json
    message.notify("event_time", .json(time))
    message.notify("tag", .tag)
    return message.encoded
  }

  private static func json(
    of field: Field, in context: TemplateContext, _ locale: String?
  ) throws(RenderingError) -> [UInt8]? {
    var json: [UInt8] = []
    for value in field.values {
      let next = try value.render(in: context, locale: locale)
      if json.isEmpty {
        json = next
      } else {
        // Two texts in quotes become one.
        json.removeLast()
        json += "\\n".utf8
        json += next.dropFirst()
      }
    }
    guard field.form == .count else { return json }
    guard case .integer(let count)? = JSONValue(json: json), count > 0, count <= Int32.max else {
      return nil
    }
    return json
  }
}

// The fields of a rule's message.
extension CompiledMessage {
  private mutating func add(_ custom: [String: PayloadTemplate]) {
    for (key, value) in custom.sorted(by: { $0.key < $1.key }) {
      if AndroidData.isReserved(key) {
        refusal = refusal ?? .reserved(key)
      } else {
        data.append(field(key, [value], named: key))
      }
    }
  }

  private mutating func addTexts(
    of alert: Alert, to place: WritableKeyPath<CompiledMessage, [Field]>, prefix: String,
    separator: String, arguments: String
  ) {
    // A text would hide the body's key, which Android looks at only if there is no text.
    let subtitle = alert.body == nil && alert.bodyKey != nil ? nil : alert.subtitle
    let lines = [("subtitle", subtitle), ("body", alert.body)].compactMap { name, text in
      text.map { compiled(.visible($0.forPeople), named: name) }
    }
    if let title = alert.title {
      self[keyPath: place].append(
        field(prefix + "title", [.visible(title.forPeople)], named: "title"))
    }
    if !lines.isEmpty {
      self[keyPath: place].append(Field(key: prefix + "body", values: lines, form: .lines))
    }
    for (part, name, key) in [
      ("title", "title-", alert.titleKey), ("body", "", alert.bodyKey),
    ] {
      guard let key else { continue }
      let text = PayloadTemplate.visible(LocalizedText(key.key))
      self[keyPath: place].append(
        field(prefix + part + separator, [text], named: name + "loc-key"))
      if key.arguments.isEmpty { continue }
      self[keyPath: place].append(
        field(prefix + part + arguments, [key.argumentTemplate], named: name + "loc-args"))
    }
  }

  /// What the app needs to draw an alert besides its texts.
  private mutating func addDrawing(of alert: Alert, _ style: AndroidStyle?) {
    let channel = style?.channel ?? AndroidChannel(alert).rawValue
    data.append(field("rp_channel", [.literal(.string(channel))], named: "channel"))
    for (key, name, text) in [
      ("rp_category", "category", alert.category), ("rp_group", "thread-id", alert.threadID),
    ] {
      guard let text else { continue }
      data.append(field(key, [.visible(LocalizedText(text))], named: name))
    }
    if alert.sound != nil {
      data.append(field("rp_sound", [.literal(.string("1"))], named: "sound"))
    }
  }

  /// What the system needs to draw an alert besides its texts, its time and its tag.
  private mutating func addNotification(of alert: Alert, _ style: AndroidStyle?) {
    let channel = AndroidChannel(alert)
    var members: [String: PayloadTemplate] = [
      "channel_id": .literal(.string(style?.channel ?? channel.rawValue))
    ]
    if channel != .quiet { members["default_sound"] = .literal(.bool(true)) }
    members["notification_priority"] = channel.importance.map { .literal(.string($0)) }
    members["image"] = style?.image.map { .visible($0) }
    members["click_action"] = style?.clickAction.map { .visible($0) }
    for (key, value) in members { notification.append(field(key, [value], named: key)) }
    guard let badge = alert.badge else { return }
    let count = badge.literalText.flatMap(Int64.init).map { PayloadTemplate.literal(.integer($0)) }
    let value = compiled(count ?? .value(badge), named: "badge")
    notification.append(Field(key: "notification_count", values: [value], form: .count))
  }

  private mutating func field(
    _ key: String, _ templates: [PayloadTemplate], named name: String
  ) -> Field {
    Field(key: key, values: templates.map { compiled($0, named: name) })
  }

  private mutating func compiled(
    _ template: PayloadTemplate, named name: String
  ) -> CompiledPayload {
    let payload = CompiledPayload(template, key: name, defaultLocale: defaultLocale)
    isLocalized = isLocalized || payload.isLocalized
    readsMe = readsMe || payload.readsMe
    clocks.formUnion(payload.clocks)
    return payload
  }
}

extension Alert {
  /// Whether Android has something to show of it.
  var hasText: Bool {
    title != nil || subtitle != nil || body != nil || titleKey != nil || bodyKey != nil
  }

  /// Whether a phone shows something of it or sounds.
  var isSeenOrHeard: Bool { hasText || subtitleKey != nil || sound != nil }

  /// Whether the app must draw it: FCM has no buttons, a message that the system draws wakes no app
  /// in the background, and so it reports no receipt.
  fileprivate func isDrawnByApp(_ rule: Rule) -> Bool {
    if let drawing = rule.android?.draw { return drawing == .app }
    return category != nil || mutableContent || contentAvailable || rule.escalation != nil
  }
}
