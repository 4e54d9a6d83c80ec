import Base
import PostgresStore
import RideCore
import Timeline

extension CompareReport {
  /// The report as JSON: all pushes that differ.
  var json: JSONValue {
    .object([
      "from": .orNull(range.lowerBound), "to": .orNull(range.upperBound),
      "repeats": .integer(Int64(repeats)),
      "unmatched_kinds": .array(unmatchedKinds.map { .string($0) }),
      "kinds": .object(counts.mapValues { .object($0.members) }),
      "all": .object(total.members),
      "only_old": .array(onlyOld), "only_new": .array(comparison.onlyNew.map(member)),
      "different_texts": .array(differentTexts),
      "unknown_texts": .object(
        Dictionary(
          uniqueKeysWithValues: unknownTexts.map {
            ($0.cause.rawValue, .integer(Int64($0.count)))
          })),
      "difference_ms": .object(
        Dictionary(
          uniqueKeysWithValues: percentiles.map {
            ($0.name, .integer(Int64($0.milliseconds)))
          })),
      "failed": .array(failures.map { .string($0.word.rawValue) }),
    ])
  }

  private var onlyOld: [JSONValue] {
    let decided = comparison.notSent.map { pair in (old[pair.old], Optional(new[pair.new])) }
    return (decided + comparison.undecided.map { (old[$0], nil) })
      .sorted { ($0.0.at, $0.0.line) < ($1.0.at, $1.0.line) }
      .map { old, new in
        var status: String?
        var code: String?
        if case .notSent(let text, let reason)? = new?.outcome { (status, code) = (text, reason) }
        return .object(
          members(old).merging([
            "status": .orNull(status), "reason_code": .orNull(code),
            "rule": .orNull(new?.rule), "ride_id": .orNull(new?.ride.text),
          ]) { $1 })
      }
  }

  private var differentTexts: [JSONValue] {
    zip(comparison.both, texts).compactMap { pair, text in
      guard case .differs(let new) = text else { return nil }
      let old = old[pair.old]
      return .object(
        members(old).merging([
          "old": .orNull(old.text), "new": .string(new),
          "rule": .string(self.new[pair.new].rule),
          "ride_id": .string(self.new[pair.new].ride.text),
        ]) { $1 })
    }
  }

  private func members(_ push: OldPush) -> [String: JSONValue] {
    [
      "at": .orNull(push.at), "owner_id": .string(push.person.text), "kind": .string(push.kind),
      "line": .integer(Int64(push.line)),
    ]
  }

  private func member(_ index: Int) -> JSONValue {
    let push = new[index]
    return .object([
      "at": .orNull(push.at), "owner_id": .string(push.person.text),
      "kind": .string(kinds.kind(of: push)), "rule": .string(push.rule),
      "app": .string(push.app.rawValue), "ride_id": .string(push.ride.text),
      "event": .string(push.event),
    ])
  }
}

extension CompareReport.Counts {
  fileprivate var members: [String: JSONValue] {
    [
      "both": both, "shown_by_card": covered, "only_old": onlyOld, "undecided": undecided,
      "only_new": onlyNew, "same_texts": sameTexts, "different_texts": otherTexts,
    ].mapValues { .integer(Int64($0)) }
  }
}
