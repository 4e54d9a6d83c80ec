/// Rules for pushes of type `alert`: they must show something, and nothing empty.
enum AlertRules {
  private static let texts = [
    "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key",
  ]
  private static let arguments = ["loc-args", "title-loc-args", "subtitle-loc-args"]
  private static let otherKeys = ["launch-image"]

  static let all: [Rule] = [
    Rule("alert shows something") { push in
      guard push.pushType == .alert else { return nil }
      switch push.aps?["alert"] {
      case .string(let text): return text.isEmpty ? mismatch("aps.alert is empty") : nil
      case .object(let alert): return checkDictionary(alert)
      default: return mismatch("an alert push needs aps.alert")
      }
    },
    Rule("alert carries no Live Activity keys") { push in
      guard push.pushType == .alert, let aps = push.aps else { return nil }
      let stray = ["event", "content-state", "timestamp", "attributes"].first { aps[$0] != nil }
      return stray.map { mismatch("aps.\($0) belongs to a liveactivity push") }
    },
  ]

  private static func checkDictionary(_ alert: [String: JSON]) -> Refusal? {
    for (key, value) in alert {
      if texts.contains(key) {
        guard let text = value.string, !text.isEmpty else {
          return mismatch("aps.alert.\(key) is empty or no string")
        }
      } else if arguments.contains(key) {
        guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
          return mismatch("aps.alert.\(key) must be a list of strings")
        }
      } else if !otherKeys.contains(key) {
        return mismatch("aps.alert.\(key) is no key of Apple's")
      }
    }
    return texts.contains { alert[$0] != nil } ? nil : mismatch("aps.alert has no text")
  }

  private static func mismatch(_ detail: String) -> Refusal {
    Refusal(.invalidPushType, detail)
  }
}
