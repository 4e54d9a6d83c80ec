import Base
import RideCore

/// The pushes of one call of `submit`, with the closure for their reports.
final class Submission: Sendable {
  let requests: [PushRequest]
  let sender: Int
  private let report: @Sendable ([PushReport]) -> Void

  init(
    _ requests: [PushRequest], of sender: Int = 0,
    report: @escaping @Sendable ([PushReport]) -> Void
  ) {
    self.requests = requests
    self.sender = sender
    self.report = report
  }

  func deliver(_ reports: [PushReport]) { report(reports) }
}

/// One push in a queue: a reference and an index, cheaper to move than the push itself.
struct QueuedPush: Sendable {
  let submission: Submission
  let index: Int

  var request: PushRequest { submission.requests[index] }
  var ticket: UInt64 { submission.requests[index].ticket }
}

extension QueuedPush: PrioritizedPush {
  var sender: Int { submission.sender }

  var lane: String { submission.requests[index].lane }

  var validUntil: Int64 { submission.requests[index].validUntil.microseconds }

  var freshUntil: Int64 { submission.requests[index].freshUntil?.microseconds ?? .max }

  var sendWithin: Duration? { submission.requests[index].sendWithin }
}

/// Collects reports and delivers them in groups, one for each call of `submit`.
struct ReportCollector {
  // A structure, because the runtime copies a tuple that holds references piece by piece.
  private struct Group {
    let submission: Submission
    var reports: [PushReport]
  }

  private var groups: [Group] = []
  private var groupOf: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { groups.isEmpty }

  mutating func add(_ push: QueuedPush, _ outcome: PushOutcome, uniqueID: String? = nil) {
    let report = PushReport(ticket: push.ticket, outcome: outcome, uniqueID: uniqueID)
    if let last = groups.indices.last, groups[last].submission === push.submission {
      groups[last].reports.append(report)
    } else if let group = groupOf[ObjectIdentifier(push.submission)] {
      groups[group].reports.append(report)
    } else {
      groupOf[ObjectIdentifier(push.submission)] = groups.count
      groups.append(Group(submission: push.submission, reports: [report]))
    }
  }

  /// Delivers all collected reports and starts over; a callback may submit more pushes.
  mutating func deliver() {
    guard !groups.isEmpty else { return }
    let ready = groups
    groups.removeAll(keepingCapacity: true)
    groupOf.removeAll(keepingCapacity: true)
    for group in ready { group.submission.deliver(group.reports) }
  }
}
