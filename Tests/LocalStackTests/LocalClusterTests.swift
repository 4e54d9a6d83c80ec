import Foundation
import Glibc
import LocalStack
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60))) struct LocalClusterTests {
  @Test func `a cluster creates databases, restarts, survives a kill and leaves nothing behind`()
    async throws
  {
    let cluster = try await LocalCluster()
    try await cluster.createDatabase("one")
    #expect(try psql(cluster, "one", "create table t as select 7 as n; select n from t") == "7")
    try await cluster.createDatabase("two", template: "one")
    try await cluster.restart(.fast)
    try await cluster.restart(.immediate)
    await cluster.kill()
    #expect(throws: Refused.self) { try psql(cluster, "two", "select 1") }
    try await cluster.start()
    #expect(try psql(cluster, "two", "select n from t") == "7")
    let inside = processes(in: cluster.directory)
    #expect(!inside.isEmpty, "the control: a running server is found")
    await cluster.stop()
    expectNothingLeft(of: cluster.directory)
  }

  @Test func `a stopped cluster that was killed leaves no shared memory`() async throws {
    let cluster = try await LocalCluster()
    let segment = try #require(sharedMemory(of: cluster.directory))
    #expect(try segments().contains(segment), "the control: a running server has one")
    await cluster.kill()
    await cluster.stop()
    expectNothingLeft(of: cluster.directory)
    #expect(try !segments().contains(segment))
  }

  @Test func `an error contains the program's output`() async throws {
    let cluster = try await LocalCluster.shared()
    await #expect {
      try await cluster.createDatabase("copy", template: "nowhere")
    } throws: { error in
      "\(error)".contains("createdb failed") && "\(error)".contains("nowhere")
    }
  }

  @Test func `a server that cannot start reports why and leaves nothing behind`() async throws {
    // A missing file, because the error names the directory.
    let error = await #expect(throws: LocalStackError.self) {
      _ = try await LocalCluster(options: ["hba_file=missing"])
    }
    let text = error.map { "\($0)" } ?? ""
    let directory = try #require(text.firstMatch(of: /"(.*)\/data\/missing"/)?.output.1)
    #expect(await until { !exists("\(directory)") })
  }

  @Test func `a caller that is killed leaves nothing behind`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
    ) {
      let cluster = try await LocalCluster()
      print("<\(cluster.directory)>")
      fflush(nil)
      kill(getpid(), SIGKILL)
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let directory = try #require(output.firstMatch(of: /<(\/tmp\/[^>]*)>/)?.output.1)
    #expect(await until { !exists("\(directory)") && processes(in: "\(directory)").isEmpty })
  }
}

private func expectNothingLeft(of directory: String) {
  #expect(!exists(directory))
  #expect(processes(in: directory).isEmpty)
}

/// Polls: the reaper of a dead process is not our child, so its end cannot be awaited.
private func until(_ condition: () -> Bool) async -> Bool {
  (try? await wait(until: "the process has ended", condition)) != nil
}

private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

private func processes(in directory: String) -> [String] {
  let files = FileManager.default
  let all = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
  return all.filter { process in
    guard process.first?.isNumber == true else { return false }
    let folder = try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
    return folder?.hasPrefix(directory) ?? false
  }
}

private func sharedMemory(of directory: String) -> String? {
  let file = try? String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
  let lines = file?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
  return lines.count < 7 ? nil : lines[6].split(separator: " ").last.map { String($0) }
}

private func segments() throws -> Set<String> {
  let table = try String(contentsOfFile: "/proc/sysvipc/shm", encoding: .utf8)
  let ids = table.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first }
  return Set(ids.map { String($0) })
}

private struct Refused: Error {}

private func psql(_ cluster: LocalCluster, _ database: String, _ sql: String) throws -> String {
  let result = try Tool.run(
    "/usr/bin/psql", ["-qAtX", "-d", cluster.url(database: database), "-c", sql])
  guard result.status == 0 else { throw Refused() }
  return result.output.trimmingCharacters(in: .newlines)
}
