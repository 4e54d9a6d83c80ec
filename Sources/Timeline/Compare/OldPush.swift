package import Base
package import RideCore

/// A push of an old sender: a line of its log.
package struct OldPush: Hashable, Sendable {
  package var at: Timestamp
  package var person: OwnerID
  /// The old sender's name for what it was about.
  package var kind: String
  /// What it showed; nil if the log does not have it.
  package var text: String?
  /// Its line in the log, counted from 1.
  package var line: Int

  package init(at: Timestamp, person: OwnerID, kind: String, text: String? = nil, line: Int) {
    self.at = at
    self.person = person
    self.kind = kind
    self.text = text
    self.line = line
  }

  /// How close the lines of one push to several phones of a person are.
  package static let repeatLimit: Duration = .seconds(1)

  /// Returns the pushes in the order of their times, several phones of a person as one push.
  ///
  /// - Returns: Also how many lines were left out.
  package static func merged(_ pushes: [OldPush]) -> (pushes: [OldPush], repeats: Int) {
    var last: [OldPush: Timestamp] = [:]
    var merged: [OldPush] = []
    for push in pushes.sorted(by: { ($0.at, $0.line) < ($1.at, $1.line) }) {
      var key = push
      (key.at, key.line) = (Timestamp(microseconds: 0), 0)
      let isRepeated = last[key].map { push.at - $0 <= repeatLimit } ?? false
      last[key] = push.at
      if !isRepeated { merged.append(push) }
    }
    return (merged, pushes.count - merged.count)
  }
}
