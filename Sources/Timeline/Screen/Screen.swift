package import Base
package import RideCore

/// What one phone shows of one app, by what was sent to it: notifications, cards, badge, and what rang.
///
/// It follows Apple's and Google's documentation, and says where that is silent: in `OfflineStore`,
/// `Attention`, `ScreenCard`, and below. A phone that is on receives everything at once, in order, also
/// at low priority; nothing is throttled.
package struct Screen: Hashable, Sendable {
  package let platform: Platform
  package private(set) var now: Timestamp
  package private(set) var isOnline = true
  /// Since when it is on; how long a card is stale counts from then.
  private(set) var onlineSince: Timestamp
  /// Whether a Focus, or Android's Do Not Disturb, is on.
  package private(set) var hasFocus = false
  /// The newest first.
  package internal(set) var notifications: [ScreenNotification] = []
  /// In the order in which they appeared.
  package internal(set) var cards: [ScreenCard] = []
  /// Nil without one.
  package internal(set) var badge: Int64?
  /// How often FCM reported that it deleted the messages that it stored.
  package private(set) var deletions = 0
  /// What happened to each push whose fate is decided, in this order; of a `ScreenRun` that forgot
  /// some, the later ones.
  package private(set) var outcomes: [Outcome] = []
  private var counts: [Attention: Int] = [:]
  /// How many pushes may have rung, lit the screen or neither: their content is not known.
  package private(set) var unknownCount = 0
  /// The longest time for which a card was stale while the phone was on.
  package internal(set) var longestStale = Duration.zero
  /// The cards that were ever on this screen.
  var knownCards: [String: CardMemory] = [:]
  /// The alerts that the app on Android drew: it drops a repeat.
  var drawnIDs: Set<String> = []
  private var waiting = OfflineStore()

  package struct Outcome: Hashable, Sendable {
    package var push: ScreenPush
    package var at: Timestamp
    package var fate: PushFate
  }

  /// What a phone remembers of a card, also after it has left the screen.
  struct CardMemory: Hashable, Sendable {
    var timestamp: Int64
    var isOver = false
    /// The card's run in the ride; what follows a lost start has a higher one than the card before.
    var run: Int64 = 0
  }

  package init(_ platform: Platform, at now: Timestamp) {
    self.platform = platform
    self.now = now
    onlineSince = now
  }

  /// What waits at APNs or FCM until the phone is back, the oldest first.
  package var waitingPushes: [ScreenPush] { waiting.pushes }

  /// A service has accepted a push to the phone.
  package mutating func receive(_ push: ScreenPush, at instant: Timestamp) {
    advance(to: instant)
    if isOnline { return arrive(push) }
    for (decided, fate) in waiting.keep(push, at: now) { record(decided, fate, at: now) }
  }

  /// The phone is off, or has no network.
  package mutating func goOffline(at instant: Timestamp) {
    advance(to: instant)
    isOnline = false
  }

  /// The phone is back, and receives what waited.
  package mutating func goOnline(at instant: Timestamp) {
    advance(to: instant)
    if !isOnline { onlineSince = now }
    isOnline = true
    if waiting.wasWiped { deletions += 1 }
    for push in waiting.takeAll() { arrive(push) }
  }

  package mutating func setFocus(_ isOn: Bool, at instant: Timestamp) {
    advance(to: instant)
    hasFocus = isOn
  }

  /// Lets time pass: pushes that wait expire, cards end and go. Time does not go back.
  package mutating func advance(to instant: Timestamp) {
    now = max(now, instant)
    recordStaleness()
    for (push, end) in waiting.expire(at: now) { record(push, .expired, at: end) }
    advanceCards()
  }

  private mutating func arrive(_ push: ScreenPush) {
    let fate: PushFate =
      switch platform {
      case _ where push.platform != platform:
        .ignored("it is for \(push.platform.title), the phone has \(platform.title)")
      case .ios: arriveOnIPhone(push)
      case .android: arriveOnAndroid(push)
      }
    record(push, fate, at: now)
  }

  private mutating func record(_ push: ScreenPush, _ fate: PushFate, at instant: Timestamp) {
    outcomes.append(Outcome(push: push, at: instant, fate: fate))
    if !push.hasContent {
      unknownCount += 1
    } else if case .shown(let attention) = fate {
      counts[attention, default: 0] += 1
    }
  }

  mutating func forgetOutcomes() { outcomes = [] }

  /// The screen as it is shown, without what it remembers of pushes to take later ones.
  var withoutMemory: Screen {
    var screen = self
    screen.drawnIDs = []
    return screen
  }
}

// What a person sees and hears.
extension Screen {
  /// The notifications by thread, as the lock screen groups them; the thread with the newest first.
  package var threads: [[ScreenNotification]] {
    notifications.reduce(into: []) { threads, notification in
      let thread = threads.firstIndex { $0.first?.thread == notification.thread }
      if let thread { threads[thread].append(notification) } else { threads.append([notification]) }
    }
  }

  /// How many pushes had this effect.
  package func count(_ attention: Attention) -> Int { counts[attention, default: 0] }

  /// The card that the person looks at: the newest one.
  package var card: ScreenCard? { cards.last }
}

// Notifications.
extension Screen {
  /// Shows a notification in the place of the one that it replaces, on top.
  mutating func show(_ notification: ScreenNotification) {
    notifications.removeAll { $0.identity == notification.identity }
    notifications.insert(notification, at: 0)
  }

  /// A badge of 0 removes it. Whether iOS then removes the app's notifications, too, is not documented:
  /// here they stay.
  mutating func setBadge(_ number: Int64?) {
    if let number { badge = number == 0 ? nil : number }
  }

  func notification(
    _ shown: ReadablePush, _ identity: String, thread: String?, _ attention: Attention,
    _ push: ScreenPush
  ) -> ScreenNotification {
    ScreenNotification(
      identity: identity, title: shown.title, subtitle: shown.subtitle, body: shown.body,
      thread: thread, level: shown.level, attention: attention, shownAt: now, rule: push.rule,
      isKnown: push.hasContent)
  }
}
