import Base
import RideCore
import Timeline

/// Computes what other rule files would change.
struct PreviewDiff {
  /// How a push differs between the two sets of rules.
  enum Change: String, CaseIterable {
    case added, removed, moved, changed
  }

  private struct Sent {
    var at: Timestamp
    var push: PlannedPush
  }

  private struct ChangeCount {
    var count = 0
    var example = ""
  }

  private var results: [String: [Change: ChangeCount]] = [:]
  private(set) var unchanged = 0

  var isEmpty: Bool { results.isEmpty }

  /// Replays rides through the window twice, one ride at a time, so that no ride is kept in memory
  /// once it is compared.
  mutating func compare(
    _ views: [RideView], _ window: PreviewWindow, by configuration: EngineConfiguration,
    with other: EngineConfiguration
  ) {
    var progress = ProgressLine()
    defer { progress.end() }
    for (index, view) in views.enumerated() {
      progress.show("\(index) of \(views.count) rides")
      let before = Self.sent(view, window, configuration)
      let after = Self.sent(view, window, other)
      for key in Set(before.keys).union(after.keys).sorted() {
        compare(before[key] ?? [], after[key] ?? [], ride: view.rideID)
      }
    }
  }

  /// Returns the pushes of one ride, by rule and phone.
  private static func sent(
    _ view: RideView, _ window: PreviewWindow, _ configuration: EngineConfiguration
  ) -> [String: [Sent]] {
    var sent: [String: [Sent]] = [:]
    var replay = window.replay([view], by: configuration)
    while let pass = replay.next(before: window.to) {
      guard let at = window.shownTime(pass.now) else { continue }
      for push in pass.decision.pushes {
        sent["\(push.entry.rule) \(push.address.text)", default: []].append(
          Sent(at: at, push: push))
      }
    }
    return sent
  }

  /// Removes equal pushes first; the rest on both sides has moved or changed, and is compared in
  /// time order.
  private mutating func compare(_ before: [Sent], _ after: [Sent], ride: RideID) {
    var left = before
    var right = after
    for sent in before {
      guard
        let index = right.firstIndex(where: { $0.at == sent.at && Self.isSame($0.push, sent.push) }
        ),
        let own = left.firstIndex(where: {
          $0.at == sent.at && $0.push.entry.id == sent.push.entry.id
        })
      else { continue }
      right.remove(at: index)
      left.remove(at: own)
      unchanged += 1
    }
    for (old, new) in zip(left, right) {
      let (from, to) = (CivilTime.iso(old.at), CivilTime.iso(new.at))
      if old.at == new.at {
        record(.changed, new, "ride \(ride) at \(to): \(Self.difference(old.push, new.push))")
      } else {
        record(.moved, new, "ride \(ride) from \(from) to \(to)")
      }
    }
    for sent in left.dropFirst(right.count) {
      record(.removed, sent, "ride \(ride) at \(CivilTime.iso(sent.at))")
    }
    for sent in right.dropFirst(left.count) {
      record(.added, sent, "ride \(ride) at \(CivilTime.iso(sent.at))")
    }
  }

  private mutating func record(_ change: Change, _ sent: Sent, _ example: String) {
    var result = results[sent.push.entry.rule]?[change] ?? ChangeCount(count: 0, example: example)
    result.count += 1
    results[sent.push.entry.rule, default: [:]][change] = result
  }

  private static func isSame(_ one: PlannedPush, _ other: PlannedPush) -> Bool {
    one.payload == other.payload && fields(one) == fields(other)
  }

  /// Returns everything that a phone or APNs would notice, except the ID.
  private static func fields(_ push: PlannedPush) -> [String] {
    push.headers.fields(to: push.address).filter {
      $0.name != "apns-id" && $0.value != push.headers.id.description
    }
    .map { "\($0.name): \($0.value)" }
  }

  private static func difference(_ old: PlannedPush, _ new: PlannedPush) -> String {
    for (one, other) in zip(fields(old), fields(new)) where one != other {
      return "\(one) becomes \(other)"
    }
    let (one, other) = (
      String(decoding: old.payload, as: UTF8.self), String(decoding: new.payload, as: UTF8.self)
    )
    return "\(one) becomes \(other)"
  }

  /// One line for each rule and kind of change, with one example.
  var table: String {
    if isEmpty { return "no change: \(counted(unchanged, "push", "pushes"))\n" }
    var lines: [String] = []
    for (rule, changes) in results.sorted(by: { $0.key < $1.key }) {
      for change in Change.allCases {
        guard let result = changes[change] else { continue }
        lines.append(
          Escape.line(
            "\(rule): \(result.count) \(change.rawValue), such as \(result.example)"))
      }
    }
    return lines.joined(separator: "\n") + "\nthe same: \(counted(unchanged, "push", "pushes"))\n"
  }

  /// The same as JSON lines, followed by a summary.
  var json: String {
    var lines: [JSONValue] = []
    for (rule, changes) in results.sorted(by: { $0.key < $1.key }) {
      for change in Change.allCases {
        guard let result = changes[change] else { continue }
        lines.append(
          .object([
            "rule": .string(rule), "change": .string(change.rawValue),
            "pushes": .integer(Int64(result.count)), "example": .string(result.example),
          ]))
      }
    }
    lines.append(.object(["summary": .bool(true), "unchanged": .integer(Int64(unchanged))]))
    return lines.map { Escape.json(String(decoding: $0.json, as: UTF8.self)) + "\n" }.joined()
  }
}
