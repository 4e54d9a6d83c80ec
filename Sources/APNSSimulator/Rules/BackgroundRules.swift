/// Rules for pushes of type `background`: they wake the app and show nothing.
enum BackgroundRules {
  static let all: [Rule] = [
    Rule("background is content-available alone") { push in
      guard push.pushType == .background, let aps = push.aps else { return nil }
      guard aps["content-available"] == .integer(1) else {
        return Refusal(.invalidPushType, "a background push needs aps.content-available 1")
      }
      let stray = aps.keys.sorted().first { $0 != "content-available" }
      return stray.map { Refusal(.invalidPushType, "aps.\($0) in a background push") }
    }
  ]
}
