/// One rule of the rule files: when which app's phones are told what.
public struct Rule: Hashable, Sendable {
  /// Its name, unique among all files; the ledger and the preview know it by this.
  public var name: String
  /// Whose phones it speaks to.
  public var app: App
  /// When.
  public var when: When
  /// What.
  public var what: What
  /// Custom keys beside `aps`.
  public var data: [String: PayloadTemplate]
  /// How long it is true.
  public var expires: RuleExpiry
  /// The value of `apns-collapse-id`, if the rule states one.
  public var collapse: TextTemplate?
  /// The priority; only an alert's can be other than its kind's own.
  public var priority: PushPriority
  /// Where it stands: `schedules/customer.yaml:12`.
  public var source: String

  /// A rule, as a file states it.
  public init(
    name: String, app: App, when: When, what: What, data: [String: PayloadTemplate] = [:],
    expires: RuleExpiry, collapse: TextTemplate? = nil, priority: PushPriority = .immediate,
    source: String
  ) {
    self.name = name
    self.app = app
    self.when = when
    self.what = what
    self.data = data
    self.expires = expires
    self.collapse = collapse
    self.priority = priority
    self.source = source
  }

  /// When a rule speaks.
  public enum When: Hashable, Sendable {
    /// Once for each event of these names.
    case on([String])
  }

  /// What a rule sends.
  public enum What: Hashable, Sendable {
    /// Something to show.
    case alert(Alert)

    /// The push type that carries it.
    public var pushType: PushType {
      switch self {
      case .alert: .alert
      }
    }
  }
}

/// How long a push is true: past that it is not sent, and not shown by APNs.
public enum RuleExpiry: Hashable, Sendable {
  /// This long after what it tells of happened.
  case after(Duration)

  /// `never-store`: for phones that are reachable now, `apns-expiration: 0`.
  case neverStore

  /// How long RidePulse itself still sends it, counted from what it tells of.
  ///
  /// For `never-store` 15 s: time to get over a lost connection, and no more.
  public var truth: Duration {
    switch self {
    case .after(let duration): duration
    case .neverStore: .seconds(15)
    }
  }
}
