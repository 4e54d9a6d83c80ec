import Base

/// A card of a ride on the phones of one app: a `live-activity` rule, in ActivityKit's terms.
package struct LiveActivity: Hashable, Sendable {
  /// `attributes-type`: the name of the app's Swift type.
  package var attributesType: String
  /// `attributes`: what never changes; sent with the start.
  package var attributes: [String: PayloadTemplate] = [:]
  /// `content-state`: what changes; sent whole each time.
  package var contentState: [String: PayloadTemplate] = [:]
  /// `start`: events on which a card is started by push, if the phone has none.
  package var start: [String] = []
  /// `end`: events and states that end a card, in addition to the final states.
  package var end: [String] = []
  /// `stale-after`: how long content stays fresh without another push, if the rule states it; as a
  /// map its `default`.
  package var staleAfter: Duration?
  /// `stale-after` as a map: the same in these states.
  package var staleAfterByState: [String: Duration] = [:]
  /// `end` as a map: how long a card that one of these ended stays on the lock screen; zero removes
  /// it at once.
  package var dismissals: [String: Duration] = [:]
  /// `content` in `end`: the fields of `content-state` that a card shows otherwise once one of these
  /// has ended it.
  package var endContents: [String: [String: PayloadTemplate]] = [:]
  /// `dismiss-after`: how long any other ended card stays there; nil leaves it to the system.
  package var dismissAfter: Duration?
  /// `min-interval`: changes within this time are combined into the last of them.
  package var minInterval: Duration = .seconds(15)
  /// `urgent`: events that are sent at once and at priority 10, in addition to those of `alerts`.
  package var urgent: [String] = []
  /// `alerts`: the alert that a card shows on an event.
  package var alerts: [String: CardAlert] = [:]
  /// `urgent-per-hour`: the most pushes of priority 10 to a card in an hour; nil means the limit
  /// that RidePulse assumes for the app's kind of card.
  package var urgentPerHour: Int?
  /// `lost-after`: a card whose ride has had no event for this long is ended; nil means `ageLimit`,
  /// or a day for a broadcast card, which has no age.
  package var lostAfter: Duration?
  /// `from`: the time before which no card is started, refreshed or outdated; nil if cards start at
  /// once.
  package var from: CardOpening?
  /// `relevance-score`: which of several cards the system shows first; any number.
  package var relevanceScore: Double?
  /// `relevance`: the score from one of these events on, until another of them.
  package var relevance: [String: Double] = [:]
  /// `input-push-token`: the started card reports an update token (iOS 18).
  package var wantsPushToken = false
  /// `input-push-channel`: the channel that the started card subscribes to (iOS 18).
  package var pushChannel: TextTemplate?
  /// `broadcast`: the card is updated through the ride's own channel, for all who watch it; the
  /// value is what the channel keeps for phones that are offline.
  package var broadcast: ChannelStorage?
  /// `while`: the states in which a ride gets such a channel; empty means any active one.
  package var broadcastStates: Set<String> = []
  /// `android`: what Android phones show of it.
  package var android: AndroidLook?

  package init(attributesType: String) {
    self.attributesType = attributesType
  }

  /// The age at which a card is ended.
  ///
  /// It leaves a margin before the eight hours after which iOS ends a card by itself and leaves its
  /// content as it was.
  package static let ageLimit: Duration = .seconds(7 * 3600 + 45 * 60)

  /// The longest time that a card can be on the screen: eight hours live, four more ended.
  package static let screenLimit: Duration = .seconds(12 * 3600)

  /// The longest time that an ended card can stay on the screen.
  package static let dismissalLimit: Duration = .seconds(4 * 3600)

  /// The most bytes of attributes and content together that ActivityKit takes, whatever APNs takes.
  package static let dataLimit = 4096

  /// Returns the card of a ride in this state, whose `stale-after` is that of the state.
  func life(in state: String?) -> LiveActivity {
    guard let staleAfter = state.flatMap({ staleAfterByState[$0] }) else { return self }
    var life = self
    life.staleAfter = staleAfter
    return life
  }

  /// How long content stays fresh without another push: 15 minutes unless the rule states it.
  package var freshness: Duration { staleAfter ?? .seconds(900) }

  /// How long the ride may have no event before its card is ended.
  var inactivityLimit: Duration {
    lostAfter ?? (broadcast == nil ? Self.ageLimit : Timing.usualLostAfter)
  }

  /// The maximum payload of a push to such a card that APNs accepts, in bytes.
  package var payloadLimit: Int {
    broadcast == nil ? PushRequest.payloadLimit : PushRequest.broadcastLimit
  }

  /// Returns the stale date of a push sent now: the next whole second, because the one before might
  /// precede the refresh.
  func stale(from now: Timestamp) -> Timestamp {
    Timestamp(epochSeconds: (now + freshness + .microseconds(999_999)).epochSeconds)
  }

  /// Returns when a card with this stale date is sent again.
  func refresh(before stale: Timestamp) -> Timestamp { stale - freshness / 4 }

  /// Returns the most pushes of priority 10 that a card receives in an hour.
  ///
  /// Apple publishes no number; cards of apps with `NSSupportsLiveActivitiesFrequentUpdates` bear
  /// more.
  func urgentLimit(frequent: Bool) -> Int { urgentPerHour ?? (frequent ? 60 : 20) }

  /// Returns whether an event of this name is sent at once: it is urgent, or has an alert.
  func isUrgent(_ event: String) -> Bool { urgent.contains(event) || alerts[event] != nil }

  /// Returns how long a card stays on the lock screen after this event or state has ended it.
  func dismissal(endedBy cause: String?) -> Duration? {
    cause.flatMap { dismissals[$0] } ?? dismissAfter
  }

  /// Returns the score of a card: that of the first of these events and states that has one.
  func score(of causes: String?...) -> Double? {
    if relevance.isEmpty { return relevanceScore }
    return causes.lazy.compactMap { $0.flatMap { relevance[$0] } }.first ?? relevanceScore
  }

  /// A text of everything that determines when a card is sent.
  var digest: String {
    // Without newer keys it is the text of earlier versions, so that an upgrade reschedules no ride.
    let ranks = relevance.isEmpty ? "" : " \(relevance.keys.sorted())"
    let opening = from.map { " \($0)" } ?? ""
    let freshness =
      staleAfterByState.isEmpty
      ? "\(freshness)"
      : "\(freshness) \(staleAfterByState.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })"
    return
      "card \(freshness) \(minInterval) \(lostAfter ?? .zero) \(start) \(end) \(urgent) \(alerts.keys.sorted()) "
      + "\(broadcast?.rawValue ?? "") \(broadcastStates.sorted())\(ranks)\(opening)"
  }
}

/// The alert within a Live Activity push.
///
/// Its form is not that of an ordinary alert: a text that the app holds is an object in the place
/// of the text, and the sound is inside the alert.
package struct CardAlert: Hashable, Sendable {
  /// `title`, as a text.
  package var title: LocalizedText?
  /// `body`, as a text.
  package var body: LocalizedText?
  /// `title`, as a key of the app's strings.
  package var titleKey: Alert.LocalizedKey?
  /// `body`, as a key of the app's strings.
  package var bodyKey: Alert.LocalizedKey?
  /// `sound`.
  package var sound: TextTemplate?

  package init() {}

  /// Creates the alert that Apple requires of a start, if the rule has none for the event:
  /// `driver_assigned` becomes "Driver assigned".
  package init(standingInFor event: String) {
    let words = event.map { "_-.".contains($0) ? " " : $0 }
    title = LocalizedText(TextTemplate(literal: String(words).capitalizedFirst))
  }

  /// The `alert` dictionary as a template.
  package var template: PayloadTemplate {
    var members: [String: PayloadTemplate] = [:]
    for (name, text, key) in [("title", title, titleKey), ("body", body, bodyKey)] {
      if let text { members[name] = .visible(text.forPeople) }
      guard let key else { continue }
      var inner: [String: PayloadTemplate] = ["loc-key": .visible(LocalizedText(key.key))]
      if !key.arguments.isEmpty {
        inner["loc-args"] = key.argumentTemplate
      }
      members[name] = .object(inner)
    }
    members["sound"] = sound.map { .visible(LocalizedText($0)) }
    return .object(members)
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
