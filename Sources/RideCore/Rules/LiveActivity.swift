/// A card of a ride on the phones of one app: what a `live-activity` rule says, in ActivityKit's
/// words.
package struct LiveActivity: Hashable, Sendable {
  /// `attributes-type`: the name of the app's Swift type.
  package var attributesType: String
  /// `attributes`: what never changes; sent with the start.
  package var attributes: [String: PayloadTemplate] = [:]
  /// `content-state`: what changes; sent whole each time.
  package var contentState: [String: PayloadTemplate] = [:]
  /// `start`: events on which a card is started by push, where the phone has none.
  package var start: [String] = []
  /// `end`: events and states that end a card, beside the final states.
  package var end: [String] = []
  /// `stale-after`: how long what is shown holds without another word, where the rule says it.
  package var staleAfter: Duration?
  /// `dismiss-after`: how long the ended card stays on the lock screen; nil: as the system likes.
  package var dismissAfter: Duration?
  /// `min-interval`: quicker changes fold into the last of them.
  package var minInterval: Duration = .seconds(15)
  /// `urgent`: events that go at once and at priority 10.
  package var urgent: [String] = []
  /// `alerts`: what a card says aloud on an event.
  package var alerts: [String: CardAlert] = [:]
  /// `urgent-per-hour`: how many pushes of priority 10 a card gets in an hour; nil: as many as its
  /// app's kind of card is thought to bear.
  package var urgentPerHour: Int?
  /// `lost-after`: a card of which nothing was heard for so long is ended; nil: when it is as old as
  /// a card gets.
  package var lostAfter: Duration?
  /// `relevance-score`: which of several cards the system shows first; any number.
  package var relevanceScore: Double?
  /// `input-push-token`: the started card reports an update token (iOS 18).
  package var wantsPushToken = false
  /// `input-push-channel`: the channel that the started card listens to (iOS 18).
  package var pushChannel: TextTemplate?
  /// `broadcast`: the card is told through a channel of the ride's own, to everybody who watches it;
  /// what the channel keeps for phones that are away.
  package var broadcast: ChannelStorage?
  /// `while`: the states in which a ride gets such a channel; empty: any active one.
  package var broadcastStates: Set<String> = []

  /// A card of this type that says nothing yet.
  package init(attributesType: String) {
    self.attributesType = attributesType
  }

  /// How old a card gets: iOS ends it after eight hours by itself, and leaves it standing as it
  /// was; this is a margin before.
  package static let ageLimit: Duration = .seconds(7 * 3600 + 45 * 60)

  /// How long a card may be on the screen at all: eight hours live, four more ended.
  package static let screenLimit: Duration = .seconds(12 * 3600)

  /// How long an ended card may stay there.
  package static let dismissalLimit: Duration = .seconds(4 * 3600)

  /// How long what is shown holds without another word.
  package var freshness: Duration { staleAfter ?? .seconds(900) }

  /// How long nothing may be heard of a card's ride. A channel gets new watchers all the time, and
  /// does not grow old.
  var silenceLimit: Duration? { lostAfter ?? (broadcast == nil ? Self.ageLimit : nil) }

  /// The most bytes that APNs accepts of a push to such a card.
  package var payloadLimit: Int {
    broadcast == nil ? PushRequest.payloadLimit : PushRequest.broadcastLimit
  }

  /// Until when a push sent now says that what it shows holds: the next whole second, since the one
  /// before may come sooner than the refresh.
  func stale(from now: Timestamp) -> Timestamp {
    Timestamp(epochSeconds: (now + freshness + .microseconds(999_999)).epochSeconds)
  }

  /// When a card that shows what holds until `stale` is sent again.
  func refresh(before stale: Timestamp) -> Timestamp { stale - freshness / 4 }

  /// The most pushes of priority 10 that a card gets in an hour. Apple publishes no number; cards
  /// of apps with `NSSupportsLiveActivitiesFrequentUpdates` bear more.
  func urgentLimit(frequent: Bool) -> Int { urgentPerHour ?? (frequent ? 60 : 20) }

  /// Whether an event of this name is told at once, or aloud.
  func speaks(on event: String) -> Bool { urgent.contains(event) || alerts[event] != nil }

  /// All that says when a card is sent, as a text.
  var digest: String {
    "card \(freshness) \(minInterval) \(lostAfter ?? .zero) \(start) \(end) \(urgent) \(alerts.keys.sorted()) "
      + "\(broadcast?.rawValue ?? "") \(broadcastStates.sorted())"
  }
}

/// What a card says aloud: the form of an alert within a Live Activity's push.
///
/// It is not that of an ordinary alert: a text that the app holds is an object in the place of the
/// text, and the sound stands within.
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

  /// An alert with nothing in it yet.
  package init() {}

  /// What stands in for the alert that Apple demands of a start, where the rule has none for the
  /// event: `driver_assigned` becomes "Driver assigned".
  package init(standingInFor event: String) {
    let words = event.map { "_-.".contains($0) ? " " : $0 }
    title = LocalizedText(TextTemplate(literal: String(words).capitalizedFirst))
  }

  /// The `alert` dictionary, before it is filled in.
  var template: PayloadTemplate {
    var members: [String: PayloadTemplate] = [:]
    for (name, text, key) in [("title", title, titleKey), ("body", body, bodyKey)] {
      if let text { members[name] = .visible(text) }
      guard let key else { continue }
      var inner: [String: PayloadTemplate] = ["loc-key": .visible(LocalizedText(key.key))]
      if !key.arguments.isEmpty {
        inner["loc-args"] = .array(key.arguments.map { .visible(LocalizedText($0)) })
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
