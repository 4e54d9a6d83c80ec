package import RideCore

/// The pin of a database: where services may send from it, and as which apps.
///
/// A dump that is restored elsewhere, or a copy of the database, keeps the pin of its origin, and no
/// longer matches it (docs/decisions/0046-pin.md).
package struct DatabasePin: Sendable {
  /// An app as a service is configured for it.
  package struct AppIdentity: Hashable, Sendable {
    package var app: App
    package var bundleID: String
    /// The environment of phones whose row names none.
    package var environment: APNsEnvironment

    package init(app: App, bundleID: String, environment: APNsEnvironment) {
      self.app = app
      self.bundleID = bundleID
      self.environment = environment
    }
  }

  /// The apps of this service that have a bundle ID, in the order of their names.
  package let apps: [AppIdentity]
  /// The projects of the apps that have an FCM service account.
  package let projects: [App: String]
  /// The name of the installation; nil if it has none.
  package let site: String?

  package init(apps: [AppIdentity], projects: [App: String] = [:], site: String? = nil) {
    self.apps = apps.sorted { $0.app.rawValue < $1.app.rawValue }
    self.projects = projects
    self.site = site
  }

  /// A pin without apps, for work that sends nothing.
  package static let none = DatabasePin(apps: [])

  /// The values of the five parameters of each statement. An app with a project alone has no bundle
  /// ID and no environment.
  var parameters: [String?] {
    let named = apps.map(\.app)
    let others = projects.keys.filter { !named.contains($0) }.sorted { $0.rawValue < $1.rawValue }
    let rest = [String?](repeating: nil, count: others.count)
    return [
      PostgresArray.literal((named + others).map(\.rawValue)),
      PostgresArray.literal(apps.map(\.bundleID) + rest),
      PostgresArray.literal(apps.map(\.environment.rawValue) + rest),
      PostgresArray.literal((named + others).map { projects[$0] }),
      site,
    ]
  }

  private static let arguments = arguments(from: 1)

  /// The parameters from a number on, as the functions of the pin take them.
  static func arguments(from first: Int) -> String {
    ((first..<(first + 4)).map { "$\($0)::text[]" } + ["$\(first + 4)::text"])
      .joined(separator: ", ")
  }

  private static let checking = Statement(
    name: "check_pin",
    sql: """
      select \(PinProblem.selected)
      from ridepulse.check_pin(\(arguments))
      """)

  private static let reading = Statement(
    name: "pin_problems",
    sql: """
      select \(PinProblem.selected)
      from ridepulse.pin_problems(\(arguments))
      """)

  /// Pins what is not pinned yet; returns why this service must not send.
  package func check(_ session: PostgresSession) async throws(PostgresError) -> [PinProblem] {
    try PinProblem.all(try await session.run([Call(Self.checking, parameters)])[0])
  }

  /// Returns why this service must not send, without writing anything.
  package func problems(_ session: PostgresSession) async throws(PostgresError) -> [PinProblem] {
    try PinProblem.all(try await session.run([Call(Self.reading, parameters)])[0])
  }
}

extension PinProblem: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    kind = Kind(rawValue: try columns.next("problem")) ?? .other
    app = try columns.next("app")
    pinned = try columns.next("pinned")
    found = try columns.next("found")
  }
}

/// A difference between a service or its database and the pin.
package struct PinProblem: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, Sendable {
    /// An operator holds all sending.
    case held
    case server, database
    /// The name of the installation, by which a physical copy is recognized.
    case site
    case bundleID = "bundle_id"
    case environment
    /// The project of the FCM service account.
    case project
    /// A kind that a newer schema reports.
    case other
  }

  package var kind: Kind
  /// The app that differs; nil if the database does.
  package var app: App?
  /// The pinned value; of `held` the reason.
  package var pinned: String
  /// The present value; of `held` the time.
  package var found: String

  package init(kind: Kind, app: App? = nil, pinned: String, found: String) {
    self.kind = kind
    self.app = app
    self.pinned = pinned
    self.found = found
  }

  package var description: String {
    switch kind {
    case .held: "sending is held since \(found): \(pinned)"
    case .server:
      "the database is pinned to server \(pinned) and is on server \(found): it was restored or moved"
    case .database:
      "the database is pinned as OID \(pinned) and has OID \(found): it is a copy, or was restored"
    case .site:
      "the database is pinned to \(Self.site(pinned)), and this service's RIDEPULSE_SITE is "
        + "\(found.isEmpty ? "not set" : found): it is a copy, or the variable has changed"
    case .bundleID:
      "app \(app?.rawValue ?? "") is pinned to bundle ID \(pinned), and this service has \(found)"
    case .environment:
      "app \(app?.rawValue ?? "") is pinned to \(pinned), and this service's default is \(found)"
    case .project:
      "app \(app?.rawValue ?? "") is pinned to FCM project \(pinned), and this service has \(found)"
    case .other: "the database's pin does not match: \(pinned), \(found)"
    }
  }

  private static func site(_ name: String) -> String { name.isEmpty ? "no site" : "site \(name)" }

  /// Returns what allows this service to send.
  ///
  /// `pin()` forgets the apps, and the service that checks the pin first sets them.
  package static func remedy(for problems: [PinProblem]) -> String {
    if problems.allSatisfy({ $0.kind == .held }) {
      return "to send again: ridepulse release, or select ridepulse.release()"
    }
    let areOthers = problems.contains {
      [.site, .bundleID, .environment, .project].contains($0.kind)
    }
    return "if phones are to be notified from this database by this service: "
      + (areOthers ? "stop all services that have the pinned values, then " : "")
      + "select ridepulse.pin()"
  }
}
