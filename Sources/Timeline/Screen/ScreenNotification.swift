package import Base

/// A notification on the lock screen.
package struct ScreenNotification: Hashable, Sendable {
  /// What a later one with the same replaces: the collapse ID, or Android's tag.
  package var identity: String
  package var title: String?
  package var subtitle: String?
  package var body: String?
  /// `thread-id`, or the group that the app on Android sets: those of one thread are together. Without
  /// one, they are all in the app's own.
  package var thread: String?
  package var level: String?
  package var attention: Attention
  /// When the phone received it.
  package var shownAt: Timestamp
  package var rule: String
  /// Whether the texts are those that were sent; if not, nothing but the rule is known.
  package var isKnown = true

  /// The texts in one line, as a story has them.
  package var text: String {
    [title, subtitle, body].compactMap { $0 }.joined(separator: " · ")
  }

  /// Returns whether a person would call it by this text: its title, its body, or the whole.
  package func reads(_ text: String) -> Bool { title == text || body == text || self.text == text }
}
