import Base

/// The keys of the first edition of the rule language, each with what is written instead.
enum FormerKeys {
  /// Returns what to write instead of the keys that are `at` now, with the values of the rule.
  static func times(in node: YAMLNode) -> [String: String] {
    guard case .mapping(let pairs) = node.kind else { return [:] }
    func text(_ key: String) -> String? { pairs.first { $0.key == key }?.value.string }
    func event(of key: String) -> String? {
      guard case .mapping(let inner)? = pairs.first(where: { $0.key == key })?.value.kind else {
        return nil
      }
      return inner.first { $0.key == "event" }?.value.string
    }
    let offset = text("by") ?? "15m"
    let before = "at: \(sum(text("before") ?? "pickup_at", "-", offset))"
    let after = "at: \(sum(event(of: "after") ?? text("after") ?? "pickup_at", "+", offset))"
    let isBefore = pairs.contains { $0.key == "before" }
    return [
      "before": before, "after": after, "by": isBefore ? before : after,
      "wait": "at: \(sum(text("on") ?? "driver_assigned", "+", text("wait") ?? "2m")), without on",
      "lost-contact": "at: \(sum("contact", "+", text("lost-contact") ?? "3m"))",
    ]
  }

  /// Returns what to write instead of the keys that are `if` now, with the values of the rule.
  static func conditions(in node: YAMLNode) -> [String: String] {
    guard case .mapping(let pairs) = node.kind else { return [:] }
    func text(_ key: String) -> String? { pairs.first { $0.key == key }?.value.string }
    let name = text("name") ?? "RULE"
    let share = text("sample").flatMap(share) ?? "0.1"
    let limit = text("unless-contact-within") ?? "5m"
    let away = "phone.contact == null || now - phone.contact > duration('\(limit)')"
    return ["sample": "if: share('\(name)') < \(share)", "unless-contact-within": "if: \(away)"]
  }

  /// Returns a percentage such as `12.5%` as a decimal fraction; nil for another text.
  private static func share(_ text: String) -> String? {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent)
    else { return nil }
    return String(percent / 100)
  }

  private static func sum(_ base: String, _ sign: String, _ offset: String) -> String {
    ["0s", "0m"].contains(offset) ? base : "\(base) \(sign) \(offset)"
  }
}
