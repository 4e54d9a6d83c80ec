import Base
import PostgresStore
import RideCore
import Timeline

/// The recorded passes of one ride, as far as the database gives them.
enum RecordedSource: Sendable {
  /// The first ones, and whether there are more.
  case passes([RecordedRide.StoredPass], isCut: Bool = false)
  /// The role may not read them, or there are too many of other rides.
  case unreadable

  /// How far before its ledger rows a ride's passes may begin: they have contacts of the last hour.
  private static let lead: Duration = .seconds(2 * 3600)
  private static let tail: Duration = .seconds(60)

  /// - Throws: `PostgresError`, unless it is about these rows alone.
  static func read(
    _ history: RideHistory, of id: String, _ session: PostgresSession
  ) async throws(PostgresError) -> RecordedSource {
    let times = history.entries.flatMap { [$0.occurredAt, $0.createdAt] }
    guard let first = times.min(), let last = times.max() else { return .passes([]) }
    do throws(PostgresError) {
      let (rows, isCut) = try await RecordedPasses(session: session).passes(
        of: RideID(id), from: first - lead, to: last + tail)
      return .passes(
        rows.map { RecordedRide.StoredPass(fence: $0.fence, json: $0.pass) }, isCut: isCut)
    } catch {
      if case .timeout = error.kind { return .unreadable }
      if error.server?.sqlState == Self.insufficientPrivilege { return .unreadable }
      throw error
    }
  }

  private static let insufficientPrivilege = "42501"

  /// Returns the ride decided again; nil if it was not recorded, or without rules.
  func ride(_ id: String, by configuration: EngineConfiguration?) -> RecordedRide? {
    guard case .passes(let passes, _) = self, !passes.isEmpty, let configuration else { return nil }
    return RecordedRide(RideID(id), passes, by: configuration)
  }
}
