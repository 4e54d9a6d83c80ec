import SimulatorKit

/// A sentence about what a phone does with a push that it does not drop.
enum Appearance {
  static func text(of type: PushType, _ aps: [String: JSON]) -> String {
    switch type {
    case .alert: alert(aps)
    case .background: "The phone wakes the app, and shows nothing."
    case .liveactivity: card(aps)
    case .widgets: "The phone reloads the app's widgets."
    case .controls: "The phone reloads the app's controls."
    default: "The phone passes the payload to the app."
    }
  }

  private static func alert(_ aps: [String: JSON]) -> String {
    var parts = texts(of: aps["alert"])
    if let badge = aps["badge"]?.whole { parts.append("badge \(badge)") }
    if let sound = sound(aps["sound"]) { parts.append("sound \(sound)") }
    if let level = aps["interruption-level"]?.string { parts.append(level) }
    if aps["content-available"] != nil { parts.append("wakes the app") }
    return sentence("The phone shows", parts)
  }

  private static func card(_ aps: [String: JSON]) -> String {
    let state = aps["content-state"].map { "state \($0)" }
    let alert = texts(of: aps["alert"])
    let shown = (state.map { [$0] } ?? []) + alert
    switch aps["event"]?.string {
    case "start":
      let name = aps["attributes-type"]?.string.map { " of type \(quoted($0))" } ?? ""
      return sentence("The phone starts a card\(name):", shown)
    case "end": return sentence("The phone ends the card:", shown)
    default: return sentence("The phone updates the card:", shown)
    }
  }

  private static func sentence(_ start: String, _ parts: [String]) -> String {
    // A card may end without a state.
    let start = parts.isEmpty && start.hasSuffix(":") ? String(start.dropLast()) : start
    return ([start] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")]))
      .joined(separator: " ") + "."
  }

  private static func texts(of alert: JSON?) -> [String] {
    guard let members = alert?.object else {
      return alert?.string.map { [quoted($0)] } ?? []
    }
    return ["title", "subtitle", "body"].compactMap { name in
      // Cards have the key within the text, alerts next to it.
      let nested = members[name]?.object
      let key = members[name == "body" ? "loc-key" : "\(name)-loc-key"] ?? nested?["loc-key"]
      let text = members[name]?.string.map(quoted) ?? key?.string.map { "by key \(quoted($0))" }
      return text.map { "\(name) \($0)" }
    }
  }

  private static func sound(_ value: JSON?) -> String? {
    (value?.string ?? value?.object.map { $0["name"]?.string ?? "default" }).map(quoted)
  }

  /// Quotes a text as JSON does, so that it can't control a terminal.
  private static func quoted(_ text: String) -> String { JSON.string(text).description }
}
