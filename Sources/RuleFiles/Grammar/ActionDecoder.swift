import RideCore

/// Decodes what a rule sends: exactly one kind of push.
struct ActionDecoder {
  let log: Diagnostics
  let vocabulary: Vocabulary

  func what(_ fields: Fields) -> Rule.What? {
    log.reportStray(
      Unserved.companions, in: fields, "is not served by this version yet",
      expected: "the rule without it")
    let key = log.single(
      KeyGroup.whats, in: fields, lack: "what it sends",
      expected: "alert with a title, body or loc-key, background: {}, or live-activity",
      elsewhere: Diagnostics.alertKeys)
    guard let key, let node = fields[key] else { return nil }
    switch key {
    case "alert":
      let priority = fields["priority"].map { log.priority($0) } ?? .immediate
      guard let alert = log.alert(node), let priority else { return nil }
      return .alert(alert, priority: priority)
    case "background": return background(node, fields)
    default:
      log.reportStray(
        ["priority"], in: fields, "in a rule with \"live-activity\"",
        expected: "urgent within live-activity: what goes at 10, all else goes at 5")
      log.reportStray(
        ["collapse"], in: fields, "in a rule with \"live-activity\"",
        expected: "nothing: a card's pushes replace each other")
      log.reportStray(
        ["unless-contact-within"], in: fields, "in a rule with \"live-activity\"",
        expected: "it beside alert or background: a card shows how things stand to everybody")
      return CardReader(log: log, vocabulary: vocabulary).card(node).map { .liveActivity($0) }
    }
  }

  private func background(_ node: YAMLNode, _ fields: Fields) -> Rule.What? {
    guard case .mapping(let pairs) = node.kind else {
      log.reportType(of: node, for: "background", expected: "an empty mapping: {}")
      return nil
    }
    for pair in pairs {
      log.report(
        pair.keyPlace, "\(quoted(pair.key)) in background",
        expected: "nothing in it: a background push shows nothing; what the app reads goes into "
          + "data, beside background")
    }
    var isWhole = pairs.isEmpty
    if let priority = fields["priority"], let given = log.priority(priority), given == .immediate {
      log.report(
        priority.location, "priority 10 for a background push",
        expected: "5, or no priority: Apple refuses any other")
      isWhole = false
    }
    return isWhole ? .background : nil
  }
}
