import Foundation
import Glibc
import LocalStack
import Testing
import TestSupport

@Suite("The wake port") struct WakeTests {
  /// Returns the port that a service logs for an opened endpoint.
  private func port(_ server: Server, _ what: String) async throws -> String {
    try await server.waitForLog(what)
    let line = server.log.split(separator: "\n").first { $0.contains(what) } ?? ""
    return line.split(separator: " ").last { $0.hasPrefix("port=") }
      .map { String($0.dropFirst(5)) } ?? ""
  }

  /// Connects as a line of a crontab would, and returns the response.
  private func poke(_ port: String) throws -> String {
    try Command.run(
      "/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); echo hello >&3; cat <&3"]
    )
    .output
  }

  /// Emits an event without a notification, as from behind a pooler.
  private func emitSilently(_ stage: Stage) async throws {
    try await stage.sql(
      """
      set local session_replication_role = replica;
      insert into ridepulse.events (ride_id, event, data) values ('r1', 'driver_nearby', '{}')
      """)
  }

  /// Returns the environment of a service that only a wake makes claim: no producer notifies it, its
  /// rules have no times, and it polls once an hour.
  private func onlyWoken(_ stage: Stage) throws -> [String: String] {
    let rules = """
      states: { active: [requested], final: [ride_completed] }
      events: [driver_nearby]
      rules:
        - { name: nearby, app: customer, on: driver_nearby, alert: { title: Soon }, expires: 10m }

      """
    return try stage.environment(rules: rules).merging([
      "RIDEPULSE_LISTEN": "off", "RIDEPULSE_TEST_POLL": "3600",
      "RIDEPULSE_ADMIN": "127.0.0.1:0", "RIDEPULSE_ADMIN_TOKEN": "sesame-42",
    ]) { $1 }
  }

  /// Emits an event that the service does not find: it has not queried the database since.
  private func emitUnfound(_ stage: Stage) async throws {
    let claims =
      "pg_stat_activity where datname = current_database() and application_name = 'ridepulse claims'"
    for _ in 1...20 {
      // Claims follow the last ride at once; those of a poll would come within two seconds.
      try await stage.until(
        "select bool_and(state = 'idle' and now() - state_change > interval '3 s') from \(claims)",
        is: "t")
      try await emitSilently(stage)
      let unfound = try await stage.value(
        "select count(*) from ridepulse.events, \(claims) and query_start < created_at")
      if unfound == "1" { return }
      try await stage.settled()
    }
    throw TestFailure("The service claims although it is not woken")
  }

  @Test func `It finds an event that stays where it is without it`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let server = try Server(try onlyWoken(stage), ["--wake", "127.0.0.1:0"])
      defer { server.stop() }
      let port = try await port(server, "Wake port")
      let url = "http://127.0.0.1:\(try await self.port(server, "Admin server"))/wake"
      try await stage.settled()
      try await emitUnfound(stage)
      let line = try poke(port)
      #expect(line.contains(/^RidePulse is running; (0 rides are|1 ride is) due\n$/), "\(line)")
      try await stage.settled()
      try await emitUnfound(stage)
      let answer = try curl(
        url, "--data", "", "--header", "Authorization: Bearer sesame-42")
      #expect(answer.last == "200", "\(answer)")
      try await stage.settled()
      #expect(try stage.arrivals().count == 2)
    }
  }

  @Test func `Many at once are all answered, and silent clients block no others`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment, ["--wake", "127.0.0.1:0"])
      defer { server.stop() }
      let port = try await port(server, "Wake port")
      let script = """
        exec 9<>/dev/tcp/127.0.0.1/\(port)
        for n in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/\(port); cat <&3) & done; wait
        """
      let result = try Command.run("/bin/bash", ["-c", script])
      #expect(result.output.split(separator: "\n").count == 200, "\(result.errors)")
      #expect(server.isRunning)
    }
  }

  @Test func `An occupied port and an invalid address are reported`() async throws {
    try await Stage.run { stage in
      let first = try Server(stage.environment, ["--wake", "127.0.0.1:0"])
      defer { first.stop() }
      let port = try await port(first, "Wake port")
      let taken = try Command.ridepulse(
        ["serve", "--wake", "127.0.0.1:\(port)"], stage.environment)
      #expect(taken.status == 1)
      #expect(taken.errors.contains("can't listen on 127.0.0.1:\(port): Address already in use"))
      let wrong = try Command.ridepulse(["serve", "--wake", "6000"], stage.environment)
      #expect(wrong.status == 1)
      #expect(wrong.errors.contains("--wake is 6000; expected HOST:PORT"))
    }
  }

  private func curl(_ url: String, _ words: String...) throws -> [String] {
    try Command.run(
      "/usr/bin/curl", ["--silent", "--write-out", "%{http_code}"] + words + [url]
    ).output.split(separator: "\n").map(String.init)
  }

  @Test func `POST /wake does the same, with the token`() async throws {
    try await Stage.run { stage in
      let own = ["RIDEPULSE_ADMIN": "127.0.0.1:0", "RIDEPULSE_ADMIN_TOKEN": "sesame-42"]
      let server = try Server(stage.environment.merging(own) { $1 })
      defer { server.stop() }
      let url = "http://127.0.0.1:\(try await port(server, "Admin server"))"
      try await stage.addRide()
      try await stage.settled()
      #expect(try curl(url + "/healthz") == ["ok", "200"])
      #expect(try curl(url + "/readyz") == ["ready", "200"])
      #expect(try curl(url + "/wake").last == "405")
      #expect(try curl(url + "/nothing").last == "404")
      #expect(try curl(url + "/wake", "--data", "").last == "401")
      #expect(
        try curl(url + "/wake", "--data", "", "--header", "Authorization: Bearer sesame-43").last
          == "401")
      try await emitSilently(stage)
      let poked = try curl(
        url + "/wake", "--data", "", "--header", "Authorization: Bearer sesame-42")
      #expect(poked.last == "200")
      #expect(poked.first?.contains("RidePulse is running") == true)
      try await stage.settled()
      let large = String(repeating: "x", count: 70_000)
      #expect(try curl(url + "/wake", "--data", large).last == "413")
      #expect(!server.log.contains("sesame"))
    }
  }

  @Test func `R43: without the database it is alive but not ready`() async throws {
    let cluster = try await LocalCluster(durability: .fast)
    try await Stage.run(cluster: cluster) { stage in
      let server = try Server(stage.environment.merging(["RIDEPULSE_ADMIN": "127.0.0.1:0"]) { $1 })
      defer { server.stop() }
      let url = "http://127.0.0.1:\(try await port(server, "Admin server"))"
      #expect(try curl(url + "/readyz") == ["ready", "200"])
      await cluster.stop()
      var answer: [String] = []
      try await wait(until: "readyz answers 503; it answers \(answer)") {
        answer = try curl(url + "/readyz")
        return answer == ["the database does not answer", "503"]
      }
      #expect(try curl(url + "/healthz") == ["ok", "200"])
    }
  }

  @Test func `Without a token in the environment writing calls are forbidden`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment.merging(["RIDEPULSE_ADMIN": "127.0.0.1:0"]) { $1 })
      defer { server.stop() }
      let url = "http://127.0.0.1:\(try await port(server, "Admin server"))"
      #expect(
        try curl(url + "/wake", "--data", "", "--header", "Authorization: Bearer ").last == "403")
    }
  }
}
