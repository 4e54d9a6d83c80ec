import Glibc
import LocalStack
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct HostListTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var names: String?
    var addresses: String?
    var ports: String?
    var first = 0
    /// Nil if the list is left to libpq.
    var result: [String: String]?
  }

  static let cases = [
    Case(testDescription: "no host"),
    Case(testDescription: "one host", names: "a", ports: "5432"),
    Case(
      testDescription: "the first attempt", names: "a,b", ports: "1,2",
      result: ["host": "a,b", "port": "1,2"]),
    Case(
      testDescription: "the second attempt", names: "a,b,c", ports: "1,2,3", first: 1,
      result: ["host": "b,c,a", "port": "2,3,1"]),
    Case(
      testDescription: "around the end", names: "a,b", ports: "1,2", first: 3,
      result: ["host": "b,a", "port": "2,1"]),
    Case(
      testDescription: "one port for all", names: "a,b", ports: "1", first: 1,
      result: ["host": "b,a", "port": "1"]),
    Case(
      testDescription: "an empty host is the default one", names: "a,", first: 1,
      result: ["host": ",a"]),
    Case(
      testDescription: "addresses keep their names", names: "a,b", addresses: "1.1.1.1,2.2.2.2",
      first: 1, result: ["host": "b,a", "hostaddr": "2.2.2.2,1.1.1.1"]),
    Case(testDescription: "names that do not fit addresses", names: "a,b", addresses: "1.1.1.1"),
    Case(testDescription: "ports that do not fit hosts", names: "a,b,c", ports: "1,2"),
  ]

  @Test(arguments: cases) func `R108 an attempt to connect begins with the next host`(
    _ example: Case
  ) {
    let list = HostList(
      names: example.names, addresses: example.addresses, ports: example.ports)
    let result = list?.parameters(first: example.first)
    #expect(result.map { Dictionary($0) { one, _ in one } } == example.result)
  }

  @Test(
    arguments: [
      ("a,b", "1,2", "a", "1", 1), ("a,b", "1,2", "b", "2", 0), ("a,a,a", "1,2,3", "a", "2", 2),
      ("a,b", "5432", "a", "5432", 1), ("a,b", nil, "b", "5432", 0), ("a,b", "1,2", "a", "2", nil),
      ("a,b", "1,2", "c", "1", nil),
    ] as [(String, String?, String, String, Int?)])
  func `R108 the next attempt begins after the host that did not answer`(
    names: String, ports: String?, host: String, port: String, next: Int?
  ) {
    let list = HostList(names: names, addresses: nil, ports: ports)
    #expect(list?.position(after: host, port: port) == next)
  }

  @Test func `R108 a host that accepts connections and never answers does not hide the next one`()
    async throws
  {
    let hanging = try await LocalCluster()
    kill(try hanging.postmasterID(), SIGSTOP)
    let url = try await makeDatabase()
    let session = try PostgresSession(
      conninfo: "\(url) host=\(hanging.directory),\(try await LocalCluster.shared().directory)",
      connectTimeout: .seconds(1))
    #expect(try await session.value("select 1") == "1")
    await hanging.stop()
  }
}
