import Base

// What a person who looks again sees changed.
extension Screen {
  /// Returns whether a person sees the same as on another screen of the phone.
  ///
  /// A refresh of a card changes only until when its content is fresh.
  package func looks(like other: Screen) -> Bool {
    isOnline == other.isOnline && hasFocus == other.hasFocus && badge == other.badge
      && deletions == other.deletions && notifications == other.notifications
      && waitingPushes == other.waitingPushes && losses == other.losses
      && cards.map { $0.appearance(at: now) } == other.cards.map { $0.appearance(at: other.now) }
      && [.rang, .lit].allSatisfy { count($0) == other.count($0) }
      && unknownCount == other.unknownCount
  }

  /// How many pushes never changed it.
  private var losses: Int { outcomes.count { $0.fate.loss != nil } }

  /// Returns whether a notification is not on an earlier screen of the phone.
  func isNew(_ notification: ScreenNotification, since before: Screen) -> Bool {
    !before.notifications.contains {
      $0.identity == notification.identity && $0.shownAt == notification.shownAt
    }
  }

  /// Returns the notification of an earlier screen whose place another one has taken.
  func replaced(
    by notification: ScreenNotification, since before: Screen
  ) -> ScreenNotification? {
    before.notifications.first { $0.identity == notification.identity }
  }
}

extension ScreenCard {
  fileprivate struct Appearance: Equatable {
    var name: String
    var state: JSONValue
    var look: JSONValue
    var isStale: Bool
    var isEnded: Bool
  }

  fileprivate func appearance(at now: Timestamp) -> Appearance {
    Appearance(
      name: name, state: state, look: look, isStale: isStale(at: now), isEnded: isEnded)
  }

  /// Returns whether it shows something else than on an earlier screen, or is not on it.
  func isNew(since before: Screen) -> Bool {
    guard let known = before.cards.first(where: { $0.name == name }) else { return true }
    return known.state != state || known.look != look || known.isEnded != isEnded
  }
}
