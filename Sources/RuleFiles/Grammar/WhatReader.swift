import RideCore

/// Reads what a rule sends: exactly one kind of push.
struct WhatReader {
  let log: ProblemLog

  func what(_ fields: Fields) -> Rule.What? {
    log.reportStray(
      Unserved.companions, in: fields, "is not served by this version yet",
      expected: "the rule without it")
    let key = log.single(
      KeyGroup.whats, in: fields, lack: "what it sends",
      expected: "alert with a title, body or loc-key, or background: {}",
      elsewhere: ProblemLog.alertKeys)
    guard let key, let node = fields[key] else { return nil }
    switch key {
    case "alert":
      let priority = fields["priority"].map { log.priority($0) } ?? .immediate
      guard let alert = log.alert(node), let priority else { return nil }
      return .alert(alert, priority: priority)
    case "background": return background(node, fields)
    default:
      log.report(
        fields.place(of: key), "\(quoted(key)) rules are not served by this version yet",
        expected: "\"alert\" or \"background\"")
      return nil
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
        priority.place, "priority 10 for a background push",
        expected: "5, or no priority: Apple refuses any other")
      isWhole = false
    }
    return isWhole ? .background : nil
  }
}
