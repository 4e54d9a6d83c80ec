package import Base
import RideCore

/// A phone's screen as JSON: what `page/phone.js` draws, and what the simulators and the live page
/// serve.
package struct ScreenJSON {
  private let screen: Screen
  private let app: String
  private let name: String?
  private let before: Screen?

  /// - Parameters:
  ///   - app: The app whose notifications and cards it shows.
  ///   - name: What the phone is called; nil if it has no name.
  ///   - before: What the reader has seen of the phone: the rest is marked as new. Nil marks nothing.
  package init(_ screen: Screen, app: String, name: String?, since before: Screen? = nil) {
    self.before = before
    self.screen = screen
    self.app = app
    self.name = name
  }

  /// Times are in whole seconds since 1970. `lost` is of the screen's `outcomes`: all in a story, of a
  /// real ride those since the step before.
  package var value: JSONValue {
    .object([
      "platform": .string(screen.platform.rawValue), "app": .string(app), "name": .orNull(name),
      "at": .integer(screen.now.epochSeconds), "online": .bool(screen.isOnline),
      "focus": .bool(screen.hasFocus), "badge": screen.badge.map { .integer($0) } ?? .null,
      "threads": .array(screen.threads.map { .array($0.map(notification)) }),
      "cards": .array(screen.cards.map(card)),
      "waiting": .array(screen.waitingPushes.map(waiting)),
      "lost": .array(screen.outcomes.compactMap(lost)),
      "deletions": .integer(Int64(screen.deletions)),
      "counts": counts,
    ])
  }

  private var counts: JSONValue {
    var counts = Attention.allCases.map { ($0.rawValue, screen.count($0)) }
    if screen.unknownCount > 0 { counts.append(("unknown", screen.unknownCount)) }
    return .object(
      Dictionary(
        counts.map { ($0, .integer(Int64($1))) }, uniquingKeysWith: { first, _ in first }))
  }

  private func notification(_ shown: ScreenNotification) -> JSONValue {
    if !shown.isKnown {
      return marked(
        shown,
        [
          "known": .bool(false), "at": .integer(shown.shownAt.epochSeconds),
          "rule": .string(shown.rule),
        ])
    }
    return marked(
      shown,
      [
        "title": .orNull(shown.title), "subtitle": .orNull(shown.subtitle),
        "body": .orNull(shown.body), "level": .orNull(shown.level),
        "attention": .string(shown.attention.rawValue), "at": .integer(shown.shownAt.epochSeconds),
        "rule": .string(shown.rule),
      ])
  }

  /// Returns a notification that states whether it is new, and what it replaced.
  private func marked(_ shown: ScreenNotification, _ members: [String: JSONValue]) -> JSONValue {
    guard let before, screen.isNew(shown, since: before) else { return .object(members) }
    var members = members
    members["new"] = .bool(true)
    if let replaced = screen.replaced(by: shown, since: before) {
      members["replaces"] = .text(replaced.title ?? replaced.body)
    }
    return .object(members)
  }

  private func card(_ card: ScreenCard) -> JSONValue {
    var known: [String: JSONValue] = card.isKnown ? [:] : ["known": .bool(false)]
    if let before, card.isNew(since: before) { known["new"] = .bool(true) }
    return .object(
      known.merging([
        "name": .string(card.name), "state": card.state, "look": card.look,
        "stale": .bool(card.isStale(at: screen.now)), "stale_at": .orNull(card.staleAt),
        "ended": .bool(card.isEnded), "gone_at": .orNull(card.goneAt),
        "at": .integer(card.changedAt.epochSeconds),
      ]) { $1 })
  }

  private func waiting(_ push: ScreenPush) -> JSONValue {
    .object([
      "rule": .string(push.rule), "type": .string(push.type.rawValue), "text": .string(push.text),
    ])
  }

  /// A push that changed nothing here, and the reason.
  private func lost(_ outcome: Screen.Outcome) -> JSONValue? {
    guard let reason = outcome.fate.loss else { return nil }
    return .object([
      "rule": .string(outcome.push.rule), "text": .string(outcome.push.text),
      "at": .integer(outcome.at.epochSeconds), "reason": .string(reason),
    ])
  }
}

extension ScreenPush {
  /// The alert's texts in one line; empty without an alert.
  fileprivate var text: String {
    let shown = readable
    return [shown.title, shown.subtitle, shown.body].compactMap { $0 }.joined(separator: " · ")
  }
}

extension JSONValue {
  fileprivate static func orNull(_ text: String?) -> JSONValue { .text(text) ?? .null }

  fileprivate static func orNull(_ time: Timestamp?) -> JSONValue {
    time.map { .integer($0.epochSeconds) } ?? .null
  }
}
