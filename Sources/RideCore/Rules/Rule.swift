import Base

/// One rule of the rule files: when it fires, for which app, and what it sends.
package struct Rule: Hashable, Sendable {
  /// Its name, unique among all files; the ledger and the preview identify it by this.
  package var name: String
  /// The app whose phones receive its pushes.
  package var app: App
  /// The further apps of a rule with a list of apps.
  package var otherApps: [App] = []
  package var when: When
  package var what: What
  /// Custom keys next to `aps`.
  package var data: [String: PayloadTemplate]
  /// How long its pushes are valid.
  package var expires: RuleExpiry
  /// The value of `apns-collapse-id`, if the rule states one.
  package var collapse: TextTemplate?
  /// `with-card`: what happens to it on a phone with a card; nil leaves it to a card that shows an
  /// alert for the event.
  package var withCard: WithCard?
  /// `if`: the condition on which it fires; nil if it has none.
  package var condition: Condition?
  /// `android`: how Android shows its alerts, and how urgent its pushes are there.
  package var android: AndroidStyle?
  /// `escalate`: what follows if no push of a firing is seen.
  package var escalation: Escalation?
  /// Its topic, quiet hours and cap.
  package var limits = RuleLimits()
  /// Where it is defined, such as `schedules/customer.yaml:12`.
  package var source: String

  package init(
    name: String, app: App, when: When, what: What, data: [String: PayloadTemplate] = [:],
    expires: RuleExpiry, collapse: TextTemplate? = nil, source: String
  ) {
    self.name = name
    self.app = app
    self.when = when
    self.what = what
    self.data = data
    self.expires = expires
    self.collapse = collapse
    self.source = source
  }

  /// The apps whose phones receive its pushes, in the order of the rule.
  package var apps: [App] { [app] + otherApps }

  /// When a rule fires.
  package enum When: Hashable, Sendable {
    /// Once for each event with one of these names, if the ride is in one of the states when the
    /// push leaves; nil allows any state.
    case on([String], while: Set<String>? = nil)
    /// By the clock, while a ride is in certain states.
    case at(Timing)
    /// During a card's life: when its content changes, and before the content is stale.
    case life
  }

  /// What a rule sends.
  package enum What: Hashable, Sendable {
    /// A visible alert; without a priority, that of its interruption level.
    case alert(Alert, priority: PushPriority? = nil)
    /// A silent push that wakes the app; its priority is always 5, so none can be stated.
    case background
    /// A push with nothing to see for an extension of the app; without a priority, that of its type.
    case toExtension(AppExtension, priority: PushPriority? = nil)
    /// A Live Activity card on the lock screen.
    case liveActivity(LiveActivity)
    /// No push: an event of the ride.
    case emit(String)
    /// No push: an HTTP POST for each of the rule's owners.
    case post(Post)

    /// The push type that carries it.
    package var pushType: PushType {
      switch self {
      case .alert: .alert
      // The ledger needs a type; an event is the one that shows nothing.
      case .background, .emit, .post: .background
      case .toExtension(let target, _): target.pushType
      case .liveActivity: .liveactivity
      }
    }

    /// The maximum body that APNs accepts, in bytes.
    var payloadLimit: Int {
      switch self {
      case .liveActivity(let life): life.payloadLimit
      case .post: PostAddress.payloadLimit
      default: PushRequest.payloadLimit
      }
    }

    /// `apns-priority`; for a card it is decided for each push.
    package var priority: PushPriority {
      switch self {
      case .alert(let alert, let priority): priority ?? alert.defaultPriority
      case .toExtension(let target, let priority):
        priority ?? target.pushType.rules.defaultPriority
      case .background, .liveActivity, .emit, .post: .powerAware
      }
    }

    /// The event that it emits in the place of a push; nil if it sends one.
    package var emittedEvent: String? {
      if case .emit(let event) = self { event } else { nil }
    }

    /// What it posts in the place of a push; nil if it posts nothing.
    package var post: Post? { if case .post(let post) = self { post } else { nil } }

    /// Whether phones receive it.
    package var isForPhones: Bool { emittedEvent == nil && post == nil }

    /// The extension whose token the push needs; nil for the app's own.
    package var appExtension: AppExtension? {
      if case .toExtension(let target, _) = self { target } else { nil }
    }
  }

  /// How long RidePulse itself still sends it, counted from the firing.
  ///
  /// A heartbeat ends when the next one is due, so that two never come together.
  package var validity: Duration {
    if case .at(let timing) = when, case .every(let period) = timing.slots {
      return min(period, expires.validity)
    }
    if case .at(let timing) = when { return expires.validity + timing.late }
    return expires.validity
  }

  /// Whether each push carries its `apns-id`, with which the app reports that it was seen.
  ///
  /// The phone does not get the header. An alert that a service extension handles can be reported, and
  /// one that escalates must be.
  var carriesID: Bool {
    guard case .alert(let alert, _) = what, data[Self.idKey] == nil else { return false }
    return alert.mutableContent || escalation != nil
  }

  /// The custom key of the `apns-id`.
  static let idKey = "apns_id"

  /// The payload before its placeholders are filled in; of a card the largest one, its start.
  var payload: PayloadTemplate {
    var members = data
    switch what {
    case .alert(let alert, _): members["aps"] = alert.aps
    case .background: members["aps"] = .object(["content-available": .literal(.integer(1))])
    case .toExtension(let target, _): members["aps"] = target.aps
    case .emit: return .object([:])
    case .post(let post): return post.template(data: data)
    case .liveActivity(let life): return life.template(data: data)
    }
    return .object(members)
  }
}

/// `with-card`: what happens to an alert on a phone that shows a card of the ride.
package enum WithCard: String, CaseIterable, Hashable, Sendable {
  /// It is sent, also if the card shows an alert for the event.
  case send
  /// It is not sent, whether or not the card shows an alert.
  case skip
}

/// `escalate`: the event that follows if an owner sees none of the pushes of one firing in time.
package struct Escalation: Hashable, Sendable {
  /// `unless-seen-within`: counted from the firing.
  package var limit: Duration
  /// `emit`: the event.
  package var event: String

  package init(unlessSeenWithin limit: Duration, emit event: String) {
    self.limit = limit
    self.event = event
  }
}

/// A part of an app that receives pushes with a token of its own.
///
/// The raw value is its key in a rule.
package enum AppExtension: String, CaseIterable, Hashable, Sendable {
  /// The app's widgets reload.
  case widgets
  /// The app's controls reload.
  case controls
  /// The Location Push Service Extension reports the phone's location.
  case location

  package var pushType: PushType {
    switch self {
    case .widgets: .widgets
    case .controls: .controls
    case .location: .location
    }
  }

  fileprivate var aps: PayloadTemplate {
    switch self {
    case .widgets, .controls: .object(["content-changed": .literal(.bool(true))])
    // The extension reads the custom keys; Apple prescribes none.
    case .location: .object([:])
    }
  }
}

/// How long a push is valid: after that RidePulse does not send it, and APNs does not deliver it.
package enum RuleExpiry: Hashable, Sendable {
  /// This long after the event or slot.
  case after(Duration)

  /// `never-store`: for phones that are reachable now, `apns-expiration: 0`.
  case neverStore

  /// That of a background push that states none: APNs never stores it, because it stores one push for a
  /// phone that is off, and a heartbeat would take the place of an alert. RidePulse itself sends it for
  /// five minutes, through a restart or a retry.
  case ofBackground

  /// That of a rule which sends nothing: an event is emitted however late its cause is handled.
  package static let ofEmit = Self.after(.seconds(100 * 365 * 86_400))

  /// Parses `never-store` or a duration such as `5m`; nil for anything else.
  package init?(text: String) {
    if text == "never-store" {
      self = .neverStore
    } else if let duration = Duration(rideText: text) {
      self = .after(duration)
    } else {
      return nil
    }
  }

  /// How long APNs may store the push: zero for one that is never stored.
  package var storage: Duration { if case .after(let duration) = self { duration } else { .zero } }

  /// Whether APNs may store the push for a phone that is off.
  var isStored: Bool { storage > .zero }

  /// How long RidePulse itself still sends it, counted from the event or slot.
  ///
  /// For `never-store` 15 s: enough to get over a lost connection, and no more.
  package var validity: Duration {
    switch self {
    case .after(let duration): duration
    case .neverStore: .seconds(15)
    case .ofBackground: .seconds(300)
    }
  }
}
