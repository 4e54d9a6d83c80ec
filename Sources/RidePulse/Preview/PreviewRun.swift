import Base
import RideCore
import Timeline

/// The time window of a preview.
struct PreviewWindow {
  var from: Timestamp
  var to: Timestamp
  /// The time at which the rides have their state: decisions begin here, even before the window.
  var start: Timestamp
  var limit: Int?
  /// What `at-most` counts at the start.
  var permits = PermitBook()

  /// Returns a window over rides whose state is that just before it. A slot at its first instant is
  /// included, and what is already due is shown at that instant.
  static func file(from: Timestamp, to: Timestamp, limit: Int?) -> PreviewWindow {
    PreviewWindow(from: from, to: to, start: from - .microseconds(1), limit: limit)
  }

  /// Returns the time at which a decision is shown; nil if it is before the window.
  func shownTime(_ now: Timestamp) -> Timestamp? {
    now >= from || start == from - .microseconds(1) ? max(now, from) : nil
  }

  func replay(_ views: [RideView], by configuration: EngineConfiguration) -> Replay {
    let world = World(views, for: configuration, permits: permits)
    return Replay(world, by: configuration, from: start)
  }

  /// Passes every push of the window to a writer.
  func run(
    _ views: [RideView], by configuration: EngineConfiguration, to writer: inout some PreviewWriter
  ) throws -> PreviewSummary {
    var summary = PreviewSummary(from: from, to: to)
    summary.rides = views.count
    var progress = ProgressLine()
    defer { progress.end() }
    var replay = replay(views, by: configuration)
    while !summary.isCut, let pass = replay.next(before: to) {
      let (now, decision) = (pass.now, pass.decision)
      progress.show("\(CivilTime.iso(now)): \(summary.pushes) pushes about \(views.count) rides")
      guard let at = shownTime(now) else { continue }
      for (rule, tally) in decision.settlement.tallies {
        summary.tallies[rule, default: SlotTally()] += tally
      }
      summary.add(closed: decision.unsent)
      for group in PreviewGroup.groups(decision, at: at) {
        if let limit, summary.pushes + group.pushes.count > limit {
          summary.isCut = true
          break
        }
        summary.add(group)
        try writer.write(group)
      }
      if !summary.isCut { writer.observe(pass) }
    }
    summary.record(configuration.rules, zones: Set(views.compactMap { $0.ride?.timeZone }))
    try writer.end(summary)
    return summary
  }
}
