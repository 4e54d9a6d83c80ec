import Base
import Foundation

/// Warnings about pushes that APNs or iOS would deliver otherwise than their rule intends.
enum DeliveryLint {
  /// Warns about a validity that APNs cuts short.
  static func lateness(_ rule: Rule) -> [String] {
    let longest = RawPush.longestStorage
    guard rule.what.isForPhones, rule.expires.storage > longest else { return [] }
    return [
      "expires \(rule.expires.storage.rideText): APNs stores a push for \(longest.rideText) at most"
    ]
  }

  /// Warns about a stored push that takes the place of an alert for a phone that is off: a background
  /// push, or a passive alert that repeats while a time-sensitive one of the same app is stored.
  static func displacement(_ rule: Rule, in rules: RuleSet) -> [String] {
    guard rule.expires.isStored, rule.what == .background || rule.isPassiveHeartbeat else {
      return []
    }
    let urgent = rules.rules.first { other in
      guard case .alert(let alert, _) = other.what, other.expires.isStored else { return false }
      return [.timeSensitive, .critical].contains(alert.interruptionLevel)
        && other.apps.contains(where: rule.apps.contains)
    }
    let kept =
      "expires \(rule.expires.storage.rideText): APNs stores one push for a phone that is off"
    if rule.what == .background {
      let alert = urgent.map { "\($0.name), which is time-sensitive, if" } ?? "an alert that"
      return [
        "background with \(kept), so this one replaces \(alert) the phone has not received"
          + (urgent == nil ? "" : " it") + "; leave expires out"
      ]
    }
    return urgent.map {
      [
        "\(kept), so this one may replace \($0.name), which is time-sensitive; write expires: "
          + "never-store"
      ]
    } ?? []
  }

  /// Warns about interruption levels that iOS does not grant, or that the moment does not deserve.
  static func interruption(_ rule: Rule) -> [String] {
    guard case .alert(let alert, _) = rule.what else { return [] }
    switch alert.interruptionLevel {
    case .critical where alert.sound?.isCritical != true:
      return [
        "interruption-level critical without a critical sound: it plays none on a silent phone; "
          + "write sound: { name: default, critical: 1, volume: 1 }"
      ]
    case .timeSensitive:
      guard case .at(let timing) = rule.when,
        let offset = timing.times.lazy.compactMap({ time -> Duration? in
          if case .fixed(let offset) = time.offset { offset } else { nil }
        }).min(), offset < .zero - timely
      else { return [] }
      return [
        "time-sensitive \((.zero - offset).rideText) before: Apple means it for what matters within "
          + "an hour, and people switch it off for apps that overdo it; leave interruption-level out"
      ]
    case .passive where alert.sound != nil:
      return ["sound next to interruption-level passive: iOS plays none; leave one of them out"]
    default: return []
    }
  }

  /// How far ahead a time-sensitive alert may be.
  private static let timely: Duration = .seconds(3600)

  /// Warns about an escalation that the app can't prevent unless it is open.
  static func receipt(_ rule: Rule) -> [String] {
    guard rule.escalation != nil, case .alert(let alert, _) = rule.what, !alert.mutableContent
    else {
      return []
    }
    return [
      "escalate without mutable-content: true in the alert: iOS runs the app only if it is open, so "
        + "who reads the alert on the lock screen has not seen it"
    ]
  }

  /// Warns about values that the phone does not receive or can't use.
  static func content(_ rule: Rule) -> [String] {
    switch rule.what {
    case .toExtension(let target, _) where target != .location && !rule.data.isEmpty:
      return [
        "data next to \(target.rawValue): iOS does not hand it over; the app reads what changed from "
          + "its backend"
      ]
    case .liveActivity(let life):
      guard let channel = life.pushChannel?.literalText, Data(base64Encoded: channel) == nil else {
        return []
      }
      return [
        "input-push-channel \(channel.quotedBrief) is not base64, as every channel ID of APNs is; "
          + "ridepulse channels list prints them"
      ]
    default: return []
    }
  }

  /// Warns about an alert that a phone shows next to the one of its card.
  static func doubles(_ rule: Rule, in rules: RuleSet) -> [String] {
    guard case .alert = rule.what, case .on(let events, _) = rule.when else { return [] }
    return rules.cards.filter { rule.apps.contains($0.app) }.flatMap { card -> [String] in
      let isBroadcast = card.life.broadcast != nil
      let both = events.filter { card.life.alerts[$0] != nil }
      if both.isEmpty || rule.withCard != .send && !isBroadcast { return [] }
      return [
        "\(both.joined(separator: ", ")) alerts twice on a phone that shows the card: "
          + "\(card.name) has an alert for it, "
          + (isBroadcast
            ? "and a broadcast card does not hold this one back; leave it out there"
            : "and with-card: send sends this one too; leave one of them out")
      ]
    }
  }
}

extension Rule {
  /// Whether it is a passive alert that comes again and again.
  fileprivate var isPassiveHeartbeat: Bool {
    guard case .alert(let alert, _) = what, alert.interruptionLevel == .passive,
      case .at(let timing) = when, case .every = timing.slots
    else { return false }
    return true
  }
}
