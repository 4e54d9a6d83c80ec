import Base
import Foundation
import RideCore

/// A settlement on trial.
package enum TrialSettlement {
  /// Settles two made-up rides and rolls that back.
  ///
  /// - Returns: The database's reason if that fails; nil if it works.
  package static func failure(_ session: PostgresSession) async -> String? {
    let rules = RuleSet(activeStates: [], finalStates: [], events: [], rules: [])
    let store = PostgresRideStore(
      node: UUID().uuidString.lowercased(), host: "", apps: [], rules: rules, lease: .seconds(20),
      claims: session, settlements: session, log: Log { _, _, _ in })
    do {
      try await store.checkSettling()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
