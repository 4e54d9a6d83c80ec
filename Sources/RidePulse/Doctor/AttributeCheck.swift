import Base
import PostgresStore
import RideCore

/// Finds attributes of live rides that are not of their declared type.
enum AttributeCheck {
  /// Returns a warning for each such attribute; nothing if none is declared, or all agree.
  ///
  /// The value itself is not printed: it may be a person's.
  static func results(
    _ rides: Probe<[LiveAttributes]>, _ declared: DeclaredAttributes?
  ) -> [CheckResult] {
    guard let declared else { return [] }
    let name = "attributes"
    return rides.judged(name, else: "they can't be compared") { rides in
      var found: [Mismatch: (count: Int, example: RideID)] = [:]
      for ride in rides {
        for (path, type) in declared.mismatches(in: ride.attributes) {
          let mismatch = Mismatch(path: path.joined(separator: "."), word: type.word)
          found[mismatch, default: (0, ride.rideID)].count += 1
        }
      }
      return found.sorted { ($1.value.count, $0.key.path) < ($0.value.count, $1.key.path) }.map {
        mismatch, seen in
        CheckResult(
          name: name, standing: .warning,
          what: "\(mismatch.path) is declared as \(mismatch.word), and "
            + "\(counted(seen.count, "live ride has", "live rides have")) another value, such as "
            + "\(seen.example)\(rides.count == LiveAttributes.limit ? sample : "")",
          remedy: [
            "correct attributes: in the rule files, or what the service writes to "
              + "\(Database.schema).rides.attributes"
          ])
      }
    }
  }

  private static let sample = " (of the \(LiveAttributes.limit) that changed last)"

  private struct Mismatch: Hashable {
    var path: String
    var word: String
  }
}
