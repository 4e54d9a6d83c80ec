import Foundation
import TestSupport
import Testing

@testable import RidePulse

@Suite("RIDEPULSE_LISTEN and RIDEPULSE_SITE") struct ListeningTests {
  @Test(arguments: [
    ("", Listening.on), ("on", .on), ("ON", .on), ("off", .off), ("Off", .off),
    ("host=db password=geheim", .over("host=db password=geheim")),
    ("postgres://u:geheim@db/rides", .over("postgres://u:geheim@db/rides")),
  ])
  func `it is on, off or a connection string`(value: String, expected: Listening) throws {
    #expect(try Listening(["RIDEPULSE_LISTEN": value]) == expected)
    #expect(try Listening([:]) == .on)
  }

  @Test(arguments: ["direct", "geheim", "Tr0ub4dor&3"])
  func `any other value is refused, and not shown: it may be a password`(value: String) throws {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let path = folder + "/listen"
    try Data(value.utf8).write(to: URL(fileURLWithPath: path))
    for (name, text) in [("RIDEPULSE_LISTEN", value), ("RIDEPULSE_LISTEN_FILE", path)] {
      let failure = #expect(throws: CommandFailure.self) { try Listening([name: text]) }
      #expect(failure?.description == "\(name) is none of on, off and a connection string")
    }
  }

  @Test(arguments: ["production", "eu-1.prod_2", String(repeating: "a", count: 64)])
  func `a site is a short name`(name: String) throws {
    #expect(try APNsVariables.site(["RIDEPULSE_SITE": name]) == name)
  }

  @Test(arguments: ["two words", "caf\u{e9}", "it's", String(repeating: "a", count: 65)])
  func `another text is refused as a site`(name: String) {
    let failure = #expect(throws: CommandFailure.self) {
      try APNsVariables.site(["RIDEPULSE_SITE": name])
    }
    #expect(failure?.description.hasPrefix("RIDEPULSE_SITE is ") == true)
  }

  @Test func `an empty site is none`() throws {
    #expect(try APNsVariables.site(["RIDEPULSE_SITE": ""]) == nil)
  }
}
