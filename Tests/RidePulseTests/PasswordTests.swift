import Foundation
import LocalStack
import TestSupport
import Testing

@Suite("Passwords that change", .timeLimit(.minutes(60))) struct PasswordTests {
  private func store(_ password: String, in file: String) throws {
    try Data("*:*:*:rotated:\(password)\n".utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
  }

  @Test func `a running service takes a new password from PGPASSFILE`() async throws {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let file = folder + "/passwords"
    let cluster = try await LocalCluster()
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide()
      try store("first", in: file)
      try await stage.sql("create role rotated login superuser password 'first'")
      // In place, because the server's user owns it.
      let rules = try #require(
        FileHandle(forUpdatingAtPath: cluster.directory + "/data/pg_hba.conf"))
      let old = try rules.readToEnd() ?? Data()
      try rules.seek(toOffset: 0)
      try rules.write(contentsOf: Data("local all rotated scram-sha-256\n".utf8) + old)
      try rules.close()
      try await stage.sql("select pg_reload_conf()")
      let environment = stage.environment.merging([
        "DATABASE_URL": stage.conninfo + " user=rotated", "PGPASSFILE": file,
      ]) { $1 }
      let server = try Server(environment)
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      #expect(try stage.arrivals().count == 1)
      try store("second", in: file)
      try await stage.sql("alter role rotated password 'second'")
      try await stage.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'rotated'")
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      #expect(try stage.arrivals().count == 2)
      #expect(server.log.contains("Database connection lost"))
      #expect(!server.log.contains("authentication failed"), "\(server.log)")
      #expect(server.stop() == 0)
    }
    await cluster.stop()
  }
}
