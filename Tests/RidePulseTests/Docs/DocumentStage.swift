import Foundation
import LocalStack
import PostgresStore
import TestSupport

/// Runs the steps of one stage of a page in one shell, so that variables and processes last.
///
/// The first word of a stage's name is its kind. Ports and folders of a run are written on the page as
/// those of a user: 2197 is apns-simulator's, 2198 fcm-simulator's, 2199 the inbox's, 9464 the admin
/// server's.
struct DocumentStage {
  /// The folder of the commands, with the project's rules and stories.
  private let folder: String
  private let environment: [String: String]
  private let published: [(page: String, actual: String)]

  enum Kind: String {
    /// Files only: the output is the same in each run.
    case files
    /// An own database with the schema, and a simulator; `serve` starts a service.
    case service
    /// An own server of Postgres without a database, for pages that create roles.
    case server
  }

  enum Step {
    case shell(String)
    case sql(String)
    case file(path: String, text: String)

    var text: String {
      switch self {
      case .shell(let text), .sql(let text), .file(_, let text): text
      }
    }
  }

  struct Result {
    let output: [String]
    let status: Int32
  }

  /// Many a page has a server of Postgres of its own.
  private static let turnstile = Turnstile(capacity: 2, most: 4)

  /// Creates a stage of this kind, passes it, and removes everything.
  static func run(_ kind: Kind, _ body: (DocumentStage) async throws -> Void) async throws {
    try await turnstile.pass { try await play(kind, body) }
  }

  private static func play(_ kind: Kind, _ body: (DocumentStage) async throws -> Void) async throws
  {
    switch kind {
    case .files:
      try await withFolder { folder in
        try await body(DocumentStage(folder: folder, environment: [:], ports: [:]))
      }
    case .service:
      try await Stage.run { stage in
        var variables = stage.environment.merging(server(of: stage.conninfo)) { $1 }
        let folder = stage.directory + "/user"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
          atPath: folder + "/apns", withDestinationPath: stage.directory)
        variables["APNS_CA_FILE"] = "apns/ca.pem"
        variables["APNS_PRIVATE_KEY_PATH"] = "apns/AuthKey_SIMKEY0001.p8"
        variables["RIDEPULSE_SCHEDULES"] = nil
        let port = stage.simulator.url.split(separator: ":").last.map(String.init) ?? ""
        try await body(
          DocumentStage(folder: folder, environment: variables, ports: ["2197": port]))
      }
    case .server:
      try await withCluster { cluster in
        try await withFolder { folder in
          let simulators = try FreePorts.find(3).map { String($0) }
          try await body(
            DocumentStage(
              folder: folder, environment: server(of: cluster.url()),
              ports: ["2197": simulators[0], "2198": simulators[1], "2199": simulators[2]]))
        }
      }
    }
  }

  private static func withCluster(_ body: (LocalCluster) async throws -> Void) async throws {
    let cluster = try await LocalCluster()
    do { try await body(cluster) } catch {
      await cluster.stop()
      throw error
    }
    await cluster.stop()
  }

  private static func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = try ScratchFolder.create("page")
    defer { ScratchFolder.remove(folder) }
    try await body(folder)
  }

  /// Returns libpq's variables for a connection string, which psql reads, too.
  private static func server(of conninfo: String) -> [String: String] {
    let names = ["host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"]
    let pairs = conninfo.split(separator: " ").compactMap { word -> (String, String)? in
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      return names[parts[0]].map { ($0, parts[1]) }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  private init(folder: String, environment: [String: String], ports: [String: String]) throws {
    self.folder = folder
    let admin = try String(FreePorts.find(1)[0])
    published = ports.map { ($0.key, $0.value) } + [("9464", admin)]
    self.environment = environment.merging([
      "PATH": folder + "/bin:/usr/bin:/bin:/usr/sbin", "HOME": folder, "LC_ALL": "C.UTF-8",
      "TZ": "UTC", "RIDEPULSE_ADMIN": "127.0.0.1:\(admin)", "PROJECT": Project.path("."),
      "SIMULATOR": "https://127.0.0.1:\(ports["2197"] ?? "")",
      "FCM_SIMULATOR": "https://127.0.0.1:\(ports["2198"] ?? "")",
    ]) { $1 }
    let files = FileManager.default
    for name in ["bin", "steps", "docs"] {
      try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    for name in ["ridepulse", "apns-simulator", "fcm-simulator"] {
      try files.createSymbolicLink(
        atPath: "\(folder)/bin/\(name)", withDestinationPath: try LocalBinary.path(name))
    }
    for name in ["schedules", "docs/stories"] {
      try files.copyItem(atPath: Project.path(name), toPath: "\(folder)/\(name)")
    }
  }

  /// Runs steps one after another; returns the result of each.
  func run(_ steps: [Step]) async throws -> [Result] {
    var script = Self.prelude + "\ncd '\(folder)'\n"
    for (number, step) in steps.enumerated() {
      let file = "\(folder)/steps/\(number)"
      try Data(actual(step.text + "\n").utf8).write(to: URL(fileURLWithPath: file))
      switch step {
      case .shell: script += "page_step \(number) .\n"
      case .sql: script += "page_step \(number) page_query\n"
      case .file(let path, _): script += "page_step \(number) page_store '\(path)'\n"
      }
    }
    let path = folder + "/steps/script"
    try Data(script.utf8).write(to: URL(fileURLWithPath: path))
    let shell = try await Tool.runAsync(
      "/usr/bin/timeout", ["--signal", "KILL", "900", "/bin/bash", path], environment: environment,
      in: folder)
    if shell.status != 0 { throw TestFailure("a page's shell: \(shell)") }
    return try steps.indices.map { number in
      let read = { (name: String) in
        try String(contentsOfFile: "\(folder)/steps/\(number).\(name)", encoding: .utf8)
      }
      var lines = page(try read("output")).components(separatedBy: "\n")
      if lines.last == "" { lines.removeLast() }
      let status = try read("status").trimmingCharacters(in: .whitespacesAndNewlines)
      return Result(output: lines, status: Int32(status) ?? -1)
    }
  }

  /// Returns a text of the page with this run's ports.
  private func actual(_ text: String) -> String {
    published.reduce(text) { $0.replacing($1.page, with: $1.actual) }
  }

  /// Returns an output with the ports and folders of the page.
  private func page(_ text: String) -> String {
    published.reduce(text.replacing(folder + "/", with: "")) {
      $0.replacing($1.actual, with: $1.page)
    }
  }

  /// `settle` waits, as a reader does, until a service that runs has handled everything.
  private static let prelude = #"""
    set -E
    trap 'kill -KILL $(jobs -p) 2> /dev/null' EXIT
    serve() {
      ridepulse serve "$@" > serve.log 2>&1 &
    }
    settle() {
      local end=$((SECONDS + 120)) state
      # A simulator that a page started.
      while [ -z "$listens" ] && jobs -r | grep -q -e '-simulator '; do
        local url=$SIMULATOR
        if jobs -r | grep -q 'fcm-simulator '; then url=$FCM_SIMULATOR; fi
        curl --silent --insecure --max-time 30 --output /dev/null "$url" && listens=1 && break
        [ $SECONDS -lt $end ] || return 0
        sleep 0.05  # poll: a server that starts
      done
      jobs -r | grep -q serve || return 0
      # On hold, or in a copy, nothing will be handled.
      until state=$(curl --silent --max-time 30 "http://$RIDEPULSE_ADMIN/readyz"); [ "$state" = ready ]; do
        [[ $SECONDS -lt $end && $state != 'nothing is sent'* ]] || return 0
        sleep 0.05  # poll: a service that starts
      done
      until [ "$(psql ${DATABASE_URL:+-d "$DATABASE_URL"} -XAtqc "
          select (select count(*) from ridepulse.events) + (select count(*) from ridepulse.token_outcomes)
            + (select count(*) from ridepulse.ledger l left join ridepulse.agenda a using (ride_id)
              where l.status = 'pending' and (a.due_at is null or a.due_at < now() + interval '1 hour'))" 2>&1)" = 0 ]; do
        [ $SECONDS -lt $end ] || return 0
        sleep 0.05  # poll: the ledger of another process
      done
    }
    page_query() {
      psql ${DATABASE_URL:+-d "$DATABASE_URL"} -X -v ON_ERROR_STOP=1 < "$1"
    }
    page_store() {
      mkdir -p "$(dirname "$2")" && cp "$1" "$2"
    }
    page_step() {
      local failed=0
      settle
      trap 'failed=1' ERR
      "$2" "$HOME/steps/$1" "${@:3}" > "$HOME/steps/$1.output" 2>&1 < /dev/null
      local status=$?
      trap - ERR
      [ $status -ne 0 ] || status=$failed
      echo $status > "$HOME/steps/$1.status"
    }
    """#
}
