import SimulatorKit

/// Warnings about keys of `aps` and `alert` that Apple does not know and the simulator accepts.
///
/// APNs and the phone ignore such a key without a trace.
struct KeyWarnings {
  /// A sender that makes up keys must not fill memory and log.
  private static let capacity = 1000

  /// The topics and keys that have been reported.
  private var reported: Set<String> = []

  /// Returns the warnings about a push; each key is reported once for a topic.
  mutating func next(for push: Push) -> [String] {
    guard push.pushType?.needsAps != false, let aps = push.aps else { return [] }
    var warnings: [String] = []
    check(aps, "aps", PayloadRules.names, push, &warnings)
    // A phone drops a card's push with an unknown key in `alert`: the payload rules report that.
    if push.pushType == .alert, let alert = aps["alert"]?.object {
      check(alert, "aps.alert", AlertRules.names, push, &warnings)
    }
    return warnings
  }

  private mutating func check(
    _ members: [String: JSON], _ path: String, _ names: Set<String>, _ push: Push,
    _ warnings: inout [String]
  ) {
    for key in members.keys where !names.contains(key) {
      let subject = "\(push.topic ?? push.call?.bundleID ?? ""): \(path).\(key)"
      guard reported.count < Self.capacity, reported.insert(subject).inserted else { continue }
      warnings.append(
        "\(subject) is not a key of Apple's, and the phone ignores it; \(Self.advice(key, names))")
    }
    warnings.sort()
  }

  /// Returns the known key that was probably meant, or where keys of the app go.
  private static func advice(_ key: String, _ names: Set<String>) -> String {
    guard let nearest = nearest(to: key, in: names.sorted()),
      editDistance(nearest, key) <= max(1, key.count / 2)
    else { return "own keys go next to aps" }
    return "the nearest known is \(nearest)"
  }
}
