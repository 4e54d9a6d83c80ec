import Foundation
import LocalStack
import Testing

@testable import Chaos

struct PatroniStatusTests {
  /// A member as Patroni 3.0.2 reports it.
  private static func member(_ name: String, _ role: String, _ state: String, _ timeline: Int?)
    -> String
  {
    let known = timeline.map { #", "timeline": \#($0), "lag": 0"# } ?? #", "lag": "unknown""#
    return #"{"name": "\#(name)", "role": "\#(role)", "state": "\#(state)", "host": "127.0.0.1""#
      + #", "port": 15501\#(known)}"#
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let members: [String]
    var leader: String?
    var followsAsynchronously = false
    var followsSynchronously = false
  }

  static let cases = [
    Case(testDescription: "no member yet", members: []),
    Case(
      testDescription: "a primary alone", members: [member("one", "leader", "running", 1)],
      leader: "one"),
    Case(
      testDescription: "a dead primary whose key has not expired",
      members: [member("one", "leader", "stopped", nil), member("two", "replica", "running", 1)]),
    Case(
      testDescription: "a standby",
      members: [member("one", "leader", "running", 2), member("two", "replica", "running", 2)],
      leader: "one", followsAsynchronously: true),
    Case(
      testDescription: "a standby of a newer Patroni",
      members: [member("one", "leader", "running", 2), member("two", "replica", "streaming", 2)],
      leader: "one", followsAsynchronously: true),
    Case(
      testDescription: "a synchronous standby",
      members: [
        member("two", "leader", "running", 3), member("one", "sync_standby", "running", 3),
      ],
      leader: "two", followsSynchronously: true),
    Case(
      testDescription: "a standby on the former timeline",
      members: [member("two", "leader", "running", 3), member("one", "replica", "running", 2)],
      leader: "two"),
    Case(
      testDescription: "a standby that is being made",
      members: [
        member("two", "leader", "running", 3), member("one", "replica", "creating replica", nil),
      ], leader: "two"),
  ]

  @Test(arguments: cases) func `the state of a cluster is read from Patroni's answer`(
    _ example: Case
  ) throws {
    let json = #"{"members": [\#(example.members.joined(separator: ", "))]}"#
    let status = try #require(PatroniStatus(json: json))
    #expect(status.leader?.name == example.leader)
    #expect(status.isRedundant(.asynchronous) == example.followsAsynchronously)
    #expect(status.isRedundant(.synchronous) == example.followsSynchronously)
    #expect(status.isRedundant(.strict) == example.followsSynchronously)
  }

  @Test func `an answer of something else is no state`() {
    #expect(PatroniStatus(json: "<html>") == nil)
  }

  @Test func `commits are read from the output of pg_waldump, and aborts are not`() {
    let text = """
      rmgr: Transaction len (rec/tot):     34/    34, tx:        733, lsn: 0/0300, prev 0/02, desc: COMMIT 2026-11-22 12:00:00.0 UTC
      rmgr: Transaction len (rec/tot):     34/    34, tx:        734, lsn: 0/0340, prev 0/03, desc: ABORT 2026-11-22 12:00:00.1 UTC
      rmgr: Transaction len (rec/tot):     80/    80, tx:    1234567, lsn: 0/0380, prev 0/03, desc: COMMIT 2026-11-22 12:00:00.2 UTC; inval msgs: catcache 7
      """
    #expect(PatroniLog.commits(in: text) == [733, 1_234_567])
  }
}
