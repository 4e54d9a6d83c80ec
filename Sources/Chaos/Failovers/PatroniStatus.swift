import Foundation
import LocalStack

/// How the primary replicates to the standby.
enum Replication: String, CaseIterable, Hashable, Sendable {
  /// A commit does not wait for the standby, and a failover loses what had not reached it.
  case asynchronous
  /// A commit waits for the standby; while there is none, it does not.
  case synchronous
  /// A commit waits for the standby, also while there is none.
  case strict
}

/// The state of a Patroni cluster, as `GET /cluster` of any member reports it.
struct PatroniStatus: Decodable, Hashable, Sendable {
  struct Member: Decodable, Hashable, Sendable {
    let name: String
    let role: String
    let state: String
    /// Nil while the member does not run.
    let timeline: Int?

    /// Patroni 3 calls a standby that streams `running`, newer versions `streaming`.
    var isRunning: Bool { state == "running" || state == "streaming" }
  }

  let members: [Member]

  /// Parses the body of an answer; nil if it is not one of Patroni.
  init?(json text: String) {
    let decoder = JSONDecoder()
    guard let status = try? decoder.decode(PatroniStatus.self, from: Data(text.utf8)) else {
      return nil
    }
    self = status
  }

  /// The running primary; nil while there is none.
  var leader: Member? { members.first { $0.role == "leader" && $0.isRunning } }

  /// Whether a standby follows the primary on its timeline, so that the primary may be lost.
  func isRedundant(_ replication: Replication) -> Bool {
    guard let timeline = leader?.timeline else { return false }
    let role = replication == .asynchronous ? "replica" : "sync_standby"
    return members.contains { $0.role == role && $0.isRunning && $0.timeline == timeline }
  }
}
