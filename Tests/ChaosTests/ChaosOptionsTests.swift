import LocalStack
import Testing

@testable import Chaos

struct ChaosOptionsTests {
  @Test func `a run with failovers has its own options`() throws {
    let options = try ChaosOptions([
      "--failovers", "3", "--replication", "asynchronous", "--nodes", "1", "--seed", "7",
    ])
    #expect(
      options.failovers
        == ChaosOptions.Failovers(count: 3, replication: .asynchronous, nodes: 1))
    #expect(options.seed == 7)
    #expect(try ChaosOptions(["--for", "60s"]).failovers == nil)
  }

  @Test(arguments: [
    (["--failovers", "3", "--for", "60s"], "--for does not apply to a run with failovers"),
    (["--without", "disk", "--nodes", "2"], "--without does not apply to a run with failovers"),
    (["--nodes", "3"], "--nodes 3 can't be read"),
    (["--replication", "loose"], "--replication loose can't be read"),
    (["--failovers"], "--failovers needs a value"),
    (["--failover", "3"], "unknown argument --failover"),
  ]) func `a command line that means nothing is refused`(words: [String], message: String) {
    let error = #expect(throws: ChaosOptions.UsageError.self) { _ = try ChaosOptions(words) }
    #expect(error?.text.hasPrefix(message) == true)
  }

  @Test func `only leaves out all other parts`() throws {
    let options = try ChaosOptions(["--only", "kill", "--only", "triggers"])
    #expect(options.without == Set(ChaosOptions.Part.allCases).subtracting([.kill, .triggers]))
  }

  @Test func `decisions need a debug build, and an hour its own run`() throws {
    #expect(try ChaosOptions([]).without == [.decisions, .hour, .outage])
    #expect(try ChaosOptions(["--debug-build", "ridepulse"]).without == [.hour, .outage])
    #expect(try !ChaosOptions(["--only", "hour"]).without.contains(.hour))
  }
}
