import Base
import RideCore

/// A push as a line of `then` would expect it.
struct PushLine {
  let test: RuleTest
  let observation: RuleTestRun.Observation
  /// Whether phones of the other system received another push.
  var hasPlatform = false

  /// Such as `- { at: 10m, rule: driver-arrived, to: customer, push: { type: alert, … } }`.
  var text: String {
    var parts = ["at: \(test.offset(observation.at))", "rule: \(Self.scalar(observation.rule))"]
    switch observation.outcome {
    case .notSent, .waits: break
    case .emitted(let event): parts.append("emit: \(Self.scalar(event))")
    case .sent(let push):
      parts.append("to: \(Self.scalar(observation.app.rawValue))")
      if hasPlatform, let platform = observation.platform {
        parts.append("platform: \(platform.rawValue)")
      }
      if let receiver = push.entry.receiver {
        parts.append("post: \(Self.scalar(receiver))")
      } else if let card = observation.card {
        parts.append("card: \(card.rawValue)")
      } else {
        let headers = push.headers
        parts.append(
          "push: { type: \(headers.pushType.rawValue), priority: \(headers.priority.rawValue), "
            + "expires: \(Self.expires(push)) }")
      }
    }
    return "- { \(parts.joined(separator: ", ")) }"
  }

  /// Returns how long a push is stored from its firing on, as rules write it.
  static func expires(_ push: PlannedPush) -> String {
    guard case .at(let instant) = push.headers.expiration else { return "never-store" }
    return (instant - push.entry.event.firing).rideText
  }

  /// Quotes a word that YAML could read as a number, or as a word of its own.
  private static func scalar(_ word: String) -> String {
    let isWord = word.utf8.first.map { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a } ?? false
    return isWord && !["true", "false", "null"].contains(word.lowercased()) ? word : "\"\(word)\""
  }
}
