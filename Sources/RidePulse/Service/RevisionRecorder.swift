import Base
import PostgresStore
import RideCore

/// Records in the database what the revisions in the ledger mean.
final class RevisionRecorder: Sendable {
  private let session: PostgresSession
  private let log: Log
  private let failures: FailureLog

  init(session: PostgresSession, log: Log) {
    self.session = session
    self.log = log
    failures = FailureLog(.revisionNotRecorded, log)
  }

  /// Records the revision of rules; failures are logged, once. No push depends on it.
  func record(_ rules: RuleSet) async {
    let revision = Revision.current(rules)
    do {
      let recorded = try await RevisionRegistry(session: session).record(revision)
      failures.succeeded()
      if recorded == revision { return }
      log(
        .error, .revisionAmbiguous,
        [
          "decided_by": revision.id, "digest": revision.start, "recorded": recorded.start,
          "fix": "change any rule file, such as a comment",
        ])
    } catch {
      failures.failed(error)
    }
  }
}

extension Revision {
  /// The revision of rules that this program decides with.
  static func current(_ rules: RuleSet) -> Revision {
    Revision(rules: rules.digest, version: Version.text)
  }

  /// The number of digits that tell rules apart. A log has no 64 digits, which could be a token.
  static let startLength = 12

  /// The first digits of the rules' digest.
  var start: String { String(rules.prefix(Self.startLength)) }
}
