import Base
import Foundation
package import RideCore
import Synchronization

// The server, timeline and pin under which rides are claimed.
extension PostgresRideStore {
  /// The server and timeline of the last claim.
  package var databaseIdentity: DatabaseIdentity? { identityMonitor.withLock { $0.identity } }

  /// How often the server or its timeline has changed since the start.
  package var failovers: Int { identityMonitor.withLock { $0.moves } }

  /// Why nothing is claimed or sent; empty if the database matches its pin.
  package var pinProblems: [PinProblem] { identityMonitor.withLock { $0.problems } }

  /// Pins the database and the apps if they are not pinned, and records whether they match.
  ///
  /// - Throws: `PostgresError`.
  package func checkPin() async throws(PostgresError) {
    let problems = try await pin.check(claims)
    guard identityMonitor.withLock({ $0.checked(problems) }) else { return }
    if problems.isEmpty {
      return log(.info, .pinMatches, [:])
    }
    log(
      .error, .pinDiffers,
      [
        "problem": problems.map(\.description).joined(separator: "; "),
        "fix": PinProblem.remedy(for: problems),
        "claimed_before": "still sent, within 15 s",
      ])
  }

  /// Handles what a claim reported about its database.
  ///
  /// - Returns: Whether the identity has changed, so that this claim began its scan too high.
  func handle(_ report: DatabaseIdentityMonitor.Report) async -> Bool {
    var hasMoved = false
    for action in identityMonitor.withLock({ $0.handle(report) }) {
      switch action {
      case .forgetNumbers(let old):
        hasMoved = true
        lowWaterMark.withLock { $0 = LowWaterMark() }
        record(report.identity, after: old)
      // The first claim of work that sends nothing pins no database.
      case .checkPin where pin.apps.isEmpty && report.mayClaim && pinProblems.isEmpty: break
      case .checkPin:
        do {
          try await checkPin()
        } catch {
          log(.warning, .pinNotChecked, ["error": "\(error)"])
        }
      }
    }
    return hasMoved
  }

  private func record(_ identity: DatabaseIdentity, after old: DatabaseIdentity) {
    if identity.systemIdentifier == old.systemIdentifier {
      log(
        .warning, .postgresFailedOver,
        [
          "timeline": identity.timeline, "before": old.timeline,
          "server": identity.server,
        ])
    } else {
      log(
        .warning, .postgresIsAnotherServer,
        [
          "server": identity.server, "timeline": identity.timeline, "former_server": old.server,
        ])
    }
  }

  /// Returns an ID that no other claim has, with the first half of the node's.
  ///
  /// A failover gives out fences again, and may give a ride the same one twice. What a claim wrote
  /// is therefore matched by an ID that comes from no database.
  func newHolder() -> String {
    String(node.prefix(18)) + UUID().uuidString.lowercased().dropFirst(18)
  }
}
