import AdminServer
import RideCore

extension ServiceMetrics {
  static func paused(_ pauses: [Pause]) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_paused",
      "1 while a rule, an event or an app is paused: what it would send waits.")
    for pause in pauses {
      family.add(1, [.init("kind", pause.kind.rawValue), .init("name", pause.name)])
    }
    return family
  }
}
