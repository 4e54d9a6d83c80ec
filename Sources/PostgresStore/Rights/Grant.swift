/// A role that `ridepulse migrate --roles` creates, without login: logins become its members.
package enum Role: String, CaseIterable, Sendable {
  /// The app's backend.
  case app = "ridepulse_app"
  /// `ridepulse serve`, and the commands of operators.
  case engine = "ridepulse_engine"
  /// People and tools that only read.
  case reader = "ridepulse_reader"
}

package enum Privilege: String, Comparable, Sendable {
  case usage, select, insert, update, delete, execute

  private var position: Int {
    switch self {
    case .usage: 0
    case .select: 1
    case .insert: 2
    case .update: 3
    case .delete: 4
    case .execute: 5
    }
  }

  package static func < (left: Privilege, right: Privilege) -> Bool {
    left.position < right.position
  }
}

/// What the roles may do with one object of the schema.
struct Grant: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case schema, sequence, table, function
  }

  let kind: Kind
  /// The name without the schema. Functions of the schema are not overloaded.
  let name: String
  let privileges: [Role: [Privilege]]
  /// What does not work without it, if pushes are sent nonetheless; nil if they are not.
  let loss: Loss?

  /// What the service loses without a privilege that no push needs.
  enum Loss: String, Sendable {
    case httpCalls = "calls of HTTP that write, and GET /v1/deliveries, answer 503"
    case rotation = "old days of the ledger and old rows of other tables are never deleted"
    case backfill = "rows that were there when their table was attached are not copied"
    case remedies = "rides stay parked, phones in quarantine, sending held, and wrong events due"
    case pauses = "no rule, event or app can be paused"
    case watching = "problems of attached tables are not shown"
    case legacy = "legacy-gateway does not start"
    case rawPushes = "ridepulse push and ridepulse broadcast fail"
    case recording = "serve with RIDEPULSE_RECORD does not start, and record reads nothing"
    case lastRules = "a node whose rule files have problems does not start"
    case metrics = "GET /metrics has no number of phones"
    case traces = "receipts are not exported with their traces"
    case reports = "commands that people run do not show it"
  }

  /// The object as a GRANT writes it.
  var object: String {
    switch kind {
    case .schema: "schema \(name)"
    case .table: "ridepulse.\(name)"
    case .sequence, .function: "\(kind.rawValue) ridepulse.\(name)"
    }
  }

  func privileges(of role: Role) -> [Privilege] { privileges[role] ?? [] }
}

extension Grant {
  /// A table or a view.
  static func table(
    _ name: String, app: [Privilege] = [], engine: [Privilege], reader: [Privilege] = [],
    loss: Loss? = nil
  ) -> Grant {
    Grant(
      kind: .table, name: name, privileges: [.app: app, .engine: engine, .reader: reader],
      loss: loss)
  }

  static func function(_ name: String, _ roles: Role..., loss: Loss? = nil) -> Grant {
    Grant(
      kind: .function, name: name,
      privileges: Dictionary(roles.map { ($0, [.execute]) }) { first, _ in first }, loss: loss)
  }
}
