import Base
import PostgresStore
import RideCore

enum DatabaseCheck {
  static func results(_ probes: DatabaseState) -> [CheckResult] {
    let found = [
      [server(probes), schema(probes), rights(probes), listen(probes)],
      QueueCheck.results(probes.queue), ClockCheck.database(probes.lead),
      DeadRowsCheck.results(probes),
      superuser(probes), DatabaseIdentityCheck.results(probes), WatchCheck.results(probes),
      LivingCheck.results(probes), LimitCheck.results(probes),
    ]
    return found.flatMap(\.self)
  }

  private static func server(_ probes: DatabaseState) -> CheckResult {
    switch probes.server {
    case .failed(let why) where !probes.isConfigured:
      return .failure(
        "postgres", "DATABASE_URL is not set, and libpq's defaults do not work: \(why)",
        "export DATABASE_URL=postgres://USER:PASSWORD@HOST/DATABASE")
    case .failed(let why): return .failure("postgres", why, remedy(why))
    case .unasked: return .skipped("postgres", needs: "a connection")
    case .known(let server) where server.isTooOld:
      return .failure(
        "postgres", "\(server.version) is too old", "upgrade it to Postgres 14 or newer")
    case .known(let server) where !server.holdsUnicode:
      return .failure(
        "postgres",
        "database \(server.database) is encoded in \(server.encoding), which can't encode every text "
          + "that phones show",
        "psql -c \"create database NAME encoding 'UTF8' template template0\"",
        "copy it there with pg_dump and pg_restore, and set DATABASE_URL to it")
    case .known(let server) where server.isReadOnly:
      return .failure(
        "postgres", "\(server.version), which accepts no writes: a standby, or read-only",
        "point DATABASE_URL to the primary, or add target_session_attrs=read-write to it")
    case .known(let server):
      return .ok("postgres", "\(server.version), database \(server.database), role \(server.role)")
    }
  }

  private static let needed =
    "serve has \(NodeConnections.atRest) connections at rest, and \(NodeConnections.most) at most"

  private static func remedy(_ why: String) -> String {
    if why.contains("connection string") {
      return "export DATABASE_URL=postgres://USER:PASSWORD@HOST/DATABASE"
    }
    if why.contains("database \""), why.contains("does not exist") {
      return "createdb DATABASE, or name another one in DATABASE_URL"
    }
    if why.contains("pg_hba.conf") {
      return "allow this role from this address in the server's pg_hba.conf, then reload it"
    }
    if why.contains("too many clients") || why.contains("connection slots") {
      return "raise max_connections, or end unused sessions; \(needed)"
    }
    if why.contains("authentication failed") || why.contains("no password supplied")
      || why.contains("role \"")
    {
      return "fix user and password in DATABASE_URL; test with psql \"$DATABASE_URL\""
    }
    return
      "start Postgres, or point DATABASE_URL to where it listens; test with psql \"$DATABASE_URL\""
  }

  private static func schema(_ probes: DatabaseState) -> CheckResult {
    switch probes.schema {
    case .unasked:
      let isEncoded = probes.server.value?.holdsUnicode ?? true
      return .skipped("schema", needs: isEncoded ? "postgres" : "a database in UTF8")
    case .known(.current): return .ok("schema", "current")
    case .known(.newer(let names)):
      return .ok(
        "schema", "newer than this program, which works with it: \(list(names)) is from a later one"
      )
    case .known(.foreign(let what)):
      return .failure("schema", what, "deploy the ridepulse that the database was migrated with")
    case .known(.lacks(let names)):
      guard let server = probes.server.value else {
        return .failure("schema", "it lacks \(list(names))", "ridepulse migrate")
      }
      if server.hasSchema {
        return .failure("schema", "it lacks \(list(names))", "ridepulse migrate")
      }
      if server.mayMakeSchema {
        return .failure("schema", "the database has none yet", "ridepulse migrate")
      }
      return .failure(
        "schema", "the database has none yet, and role \(server.role) may not create it",
        "as the database's owner: "
          + "psql -c "
          + ShellText.word(
            "grant create on database \(SQLText.identifier(server.database)) "
              + "to \(SQLText.identifier(server.role))"),
        "ridepulse migrate")
    case .failed(let why):
      if let rights = probes.rights.value, !rights.missing.isEmpty {
        return .skipped("schema", needs: "rights")
      }
      return .failure(
        "schema", "it can't be read: \(why)", "ridepulse migrate --dry-run prints details")
    }
  }

  private static func rights(_ probes: DatabaseState) -> CheckResult {
    switch probes.rights {
    case .unasked:
      return .skipped("rights", needs: probes.server.value == nil ? "postgres" : "schema")
    case .failed(let why):
      return .failure("rights", "they can't be read: \(why)", "run ridepulse doctor again")
    case .known(let report) where report.missing.isEmpty:
      switch report.role {
      case .engine: return .ok("rights", "all that serve and every command need")
      case .reader, .app:
        return .ok(
          "rights",
          "all that explain, preview and doctor need; serve needs those of \(Role.engine.rawValue)")
      }
    case .known(let report):
      let missing = report.missing
      let role = probes.server.value?.role ?? "ROLE"
      let command = ShellText.word(grants(missing, to: SQLText.identifier(role)))
      let words = list(missing.map { "\($0.privilege) on \($0.object)" })
      let what = "role \(role) lacks \(words)"
      let remedy = [
        "as the schema's owner, in that database: psql -c \(command)",
        "or: ridepulse migrate --roles, then psql -c "
          + ShellText.word("grant \(report.role.rawValue) to \(SQLText.identifier(role))"),
      ]
      let losses = missing.compactMap(\.loss)
      if losses.count < missing.count {
        return CheckResult(name: "rights", standing: .failure, what: what, remedy: remedy)
      }
      let distinct = losses.indices.filter { !losses[..<$0].contains(losses[$0]) }
      return CheckResult(
        name: "rights", standing: .warning,
        what: "\(what): \(distinct.map { losses[$0] }.joined(separator: ", "))", remedy: remedy)
    }
  }

  private static func superuser(_ probes: DatabaseState) -> [CheckResult] {
    guard let server = probes.server.value, server.isSuperuser else { return [] }
    return [
      .warning(
        "superuser",
        "role \(server.role) is a superuser: a flaw in serve would give away the server, "
          + "and tables of other owners are not backfilled", Superuser.remedy)
    ]
  }

  /// Returns one GRANT per object, in the order of the missing rights. `role` is already quoted for
  /// SQL.
  static func grants(_ missing: [MissingRight], to role: String) -> String {
    var order: [String] = []
    for right in missing where !order.contains(right.object) { order.append(right.object) }
    return order.map { object in
      let privileges = missing.filter { $0.object == object }.map(\.privilege)
      return "grant \(privileges.joined(separator: ", ")) on \(object) to \(role)"
    }.joined(separator: "; ")
  }

  private static func listen(_ probes: DatabaseState) -> CheckResult {
    if let problem = probes.listeningProblem {
      return .failure(
        "listen", problem, "correct it, or unset it: without it LISTEN goes through DATABASE_URL")
    }
    let isOwn = probes.listening.address != nil
    let pooler =
      isOwn
      ? "point RIDEPULSE_LISTEN to Postgres itself"
      : "point DATABASE_URL, or RIDEPULSE_LISTEN alone, to Postgres itself or a pool in session mode"
    switch probes.listen {
    case .unasked where probes.listening == .off:
      return .ok("listen", "off: an event waits for the next poll, 2s at most")
    case .known(.queueFull):
      return .warning(
        "listen", "nothing was notified, because the NOTIFY queue is not read",
        "see \(QueueCheck.name) below")
    case .unasked: return .skipped("listen", needs: "postgres")
    case .known(.effective):
      return .ok("listen", "a notification came back\(isOwn ? " over RIDEPULSE_LISTEN" : "")")
    case .known(.otherDatabase(let difference)):
      return .failure(
        "listen", "RIDEPULSE_LISTEN leads to another database: \(difference)",
        "name the server and the database behind DATABASE_URL in it")
    case .known(.swallowed):
      return .warning(
        "listen",
        "Postgres accepts LISTEN, but no notification arrives, as behind a pooler in transaction mode; "
          + "events wait for the next poll, 2s at most", pooler)
    case .known(.unreachable(let why)) where isOwn, .failed(let why) where isOwn:
      return .failure(
        "listen", "RIDEPULSE_LISTEN leads to no connection: \(why)",
        "correct it, or unset it: without it LISTEN goes through DATABASE_URL")
    case .known(.unreachable(let why)), .failed(let why):
      return .failure(
        "listen", "a second connection failed: \(why)",
        "raise max_connections, or the pool's size; \(needed)")
    }
  }

  /// Returns the first few names, and the number of the rest.
  static func list(_ names: [String]) -> String {
    let shown = names.prefix(6).joined(separator: ", ")
    return names.count > 6 ? "\(shown) and \(names.count - 6) more" : shown
  }
}
