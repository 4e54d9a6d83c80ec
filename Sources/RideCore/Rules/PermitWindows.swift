/// How long the pushes of each app that some `at-most` counts are counted.
struct PermitWindows: Sendable {
  private var windows: [Counted: Duration] = [:]

  private struct Counted: Hashable {
    var app: App
    var pushes: CountedPushes
  }

  init(of rules: [Rule]) {
    for rule in rules {
      guard let cap = rule.limits.cap else { continue }
      for app in rule.apps {
        let counted = Counted(app: app, pushes: CountedPushes(rule.limits, of: rule.name))
        windows[counted] = max(windows[counted] ?? .zero, cap.period.window)
      }
    }
  }

  /// Returns the windows in which the rules of either set count.
  func joined(with other: PermitWindows) -> PermitWindows {
    var joined = self
    joined.windows.merge(other.windows) { max($0, $1) }
    return joined
  }

  /// Returns how long such pushes of an app are counted; nil if no rule counts them.
  func window(of pushes: CountedPushes, for app: App) -> Duration? {
    windows.isEmpty ? nil : windows[Counted(app: app, pushes: pushes)]
  }
}
