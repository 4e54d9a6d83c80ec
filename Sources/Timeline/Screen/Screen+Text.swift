package import Base
import RideCore

// The screen as lines of text.
extension Screen {
  /// Returns what a person sees and what rang, one line each.
  ///
  /// - Parameter time: Writes a time.
  package func lines(_ time: (Timestamp) -> String) -> [String] {
    var lines = notifications.map {
      "\"\($0.text)\", \($0.attention.rawValue) at \(time($0.shownAt))"
    }
    if notifications.isEmpty { lines.append("no notification") }
    lines += cards.map { "card \(line($0, time))" }
    // What Android shows on an icon is the launcher's own.
    if let badge, platform == .ios { lines.append("badge \(badge)") }
    lines.append(
      "rang \(count(.rang)), lit \(count(.lit)), silent \(count(.silent))"
        + (hasFocus ? "; a Focus is on" : ""))
    for push in waitingPushes { lines.append("waits until the phone is back: \(push.rule)") }
    for outcome in outcomes {
      guard let reason = outcome.fate.loss else { continue }
      lines.append("lost: \(outcome.push.rule) at \(time(outcome.at)): \(reason)")
    }
    return lines
  }

  private func line(_ card: ScreenCard, _ time: (Timestamp) -> String) -> String {
    if let end = card.endedAt { return "\(card.text); ended at \(time(end))" }
    guard let staleAt = card.staleAt else { return card.text }
    return "\(card.text); stale \(staleAt <= now ? "since" : "from") \(time(staleAt))"
  }
}

extension PushFate {
  /// Why a push never reached the phone's screen; nil if it did.
  package var loss: String? {
    switch self {
    case .shown, .unseen: nil
    case .ignored(let reason): reason
    case .replaced: "the phone was off, and a later push took its place"
    case .notStored: "the phone was off, and it is never stored"
    case .expired: "the phone was off until it had expired"
    case .wiped: "the phone was off, and FCM had too much to keep"
    }
  }
}
