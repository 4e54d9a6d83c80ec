/// One rule of the rule files: when which app's phones are told what.
package struct Rule: Hashable, Sendable {
  /// Its name, unique among all files; the ledger and the preview know it by this.
  package var name: String
  /// Whose phones it speaks to.
  package var app: App
  /// When.
  package var when: When
  /// What.
  package var what: What
  /// Custom keys beside `aps`.
  package var data: [String: PayloadTemplate]
  /// How long it is true.
  package var expires: RuleExpiry
  /// The value of `apns-collapse-id`, if the rule states one.
  package var collapse: TextTemplate?
  /// `also-with-card`: it is sent to a phone also where a card says the same aloud.
  package var isSentWithCard: Bool
  /// `unless-contact-within`: nothing is sent to who was heard from so lately.
  package var unlessContactWithin: Duration?
  /// Where it stands: `schedules/customer.yaml:12`.
  package var source: String

  /// A rule, as a file states it.
  package init(
    name: String, app: App, when: When, what: What, data: [String: PayloadTemplate] = [:],
    expires: RuleExpiry, collapse: TextTemplate? = nil, isSentWithCard: Bool = false,
    unlessContactWithin: Duration? = nil, source: String
  ) {
    self.name = name
    self.app = app
    self.when = when
    self.what = what
    self.data = data
    self.expires = expires
    self.collapse = collapse
    self.isSentWithCard = isSentWithCard
    self.unlessContactWithin = unlessContactWithin
    self.source = source
  }

  /// When a rule speaks.
  package enum When: Hashable, Sendable {
    /// Once for each event of these names.
    case on([String])
    /// At slots of time, while a ride is in certain states.
    case at(Timing)
    /// In a card's own life: when what it shows changes, and before that is stale.
    case life
  }

  /// What a rule sends.
  package enum What: Hashable, Sendable {
    /// Something to show.
    case alert(Alert, priority: PushPriority = .immediate)
    /// A silent wake. It has nothing to show and no priority but 5, so none can be stated.
    case background
    /// A card that lives on the lock screen.
    case liveActivity(LiveActivity)

    /// The push type that carries it.
    package var pushType: PushType {
      switch self {
      case .alert: .alert
      case .background: .background
      case .liveActivity: .liveactivity
      }
    }

    /// The most bytes that APNs accepts in the body.
    var payloadLimit: Int {
      if case .liveActivity(let life) = self { life.payloadLimit } else { PushRequest.payloadLimit }
    }

    /// `apns-priority`; that of a card's pushes is decided for each.
    package var priority: PushPriority {
      switch self {
      case .alert(_, let priority): priority
      case .background, .liveActivity: .powerAware
      }
    }
  }

  /// How long RidePulse itself still sends it, counted from what it tells of.
  ///
  /// A heartbeat ends where the next one is due, so that two never come together.
  package var validity: Duration {
    if case .at(let timing) = when, case .every(let period) = timing.slots {
      return min(period, expires.validity)
    }
    return expires.validity
  }
}

/// How long a push is true: past that it is not sent, and not shown by APNs.
package enum RuleExpiry: Hashable, Sendable {
  /// This long after what it tells of happened.
  case after(Duration)

  /// `never-store`: for phones that are reachable now, `apns-expiration: 0`.
  case neverStore

  /// How long RidePulse itself still sends it, counted from what it tells of.
  ///
  /// For `never-store` 15 s: time to get over a lost connection, and no more.
  package var validity: Duration {
    switch self {
    case .after(let duration): duration
    case .neverStore: .seconds(15)
    }
  }
}
