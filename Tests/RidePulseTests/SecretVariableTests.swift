import Foundation
import PushClient
import TestSupport
import Testing

@testable import RidePulse

/// Each secret of the environment may be in a file, as a mounted secret is.
@Suite final class SecretVariableTests {
  private let folder: String

  init() throws { folder = try ScratchFolder.create() }

  deinit { ScratchFolder.remove(folder) }

  private func write(_ text: String) throws -> String {
    let path = "\(folder)/secret"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test func `The connection string comes from the variable or from its file`() throws {
    let path = try write("host=/run dbname=rides password=geheim\n")
    #expect(try Database.conninfo([:]).isEmpty)
    #expect(try Database.conninfo(["DATABASE_URL": "host=a"]) == "host=a")
    let read = try Database.conninfo(["DATABASE_URL": "", "DATABASE_URL_FILE": path])
    #expect(read == "host=/run dbname=rides password=geheim")
  }

  /// Contents of the file, further variables, and the message.
  private static let wrong: [(text: String, variables: [String: String], message: String)] = [
    ("", [:], "DATABASE_URL_FILE: PATH is empty"), ("\n", [:], "DATABASE_URL_FILE: PATH is empty"),
    (
      "host=a", ["DATABASE_URL": "host=b"],
      "DATABASE_URL and DATABASE_URL_FILE are both set: unset one"
    ),
    (
      "host=a", ["DATABASE_URL_FILE": "/nowhere"],
      "DATABASE_URL_FILE: can't read /nowhere: No such file or directory"
    ),
    (
      "host=a", ["DATABASE_URL_FILE": "postgres://u:geheim@db/rides"],
      "DATABASE_URL_FILE contains the secret itself; expected the path of its file"
    ),
    (
      "host=a", ["DATABASE_URL_FILE": "user=rp password=geheim"],
      "DATABASE_URL_FILE: expected the path of a file that can be read: No such file or directory"
    ),
  ]

  @Test(arguments: wrong.indices)
  func `A file that can't be used is named, and nothing of a secret is shown`(index: Int) throws {
    let (text, variables, message) = Self.wrong[index]
    let path = try write(text)
    let failure = #expect(throws: CommandFailure.self) {
      try Database.conninfo(["DATABASE_URL_FILE": path].merging(variables) { $1 })
    }
    #expect(failure?.description == message.replacing("PATH", with: path))
  }

  /// They end with 1 and the message before they use anything else.
  @Test(arguments: [
    (
      [
        "record", "--from", "2020-01-01T00:00:00Z", "--to", "2099-01-01T00:00:00Z", "--output",
        "day.jsonl",
      ], "RIDEPULSE_RECORD_SALT_FILE"
    ),
    (["migrate"], "DATABASE_URL_FILE"),
  ])
  func `Commands name the file of a secret that they need`(words: [String], name: String) throws {
    let result = try Command.ridepulse(words, [name: "\(folder)/none"])
    #expect(result.status == 1)
    #expect(result.errors.contains("\(name): can't read \(folder)/none"), "\(result.errors)")
  }

  @Test func `doctor reports a file of the connection string that can't be read`() throws {
    try Checkup(["DATABASE_URL_FILE": "\(folder)/none"])
      .expect("postgres", "failure", "DATABASE_URL_FILE: can't read \(folder)/none")
  }

  @Test func `The admin server's token may be in a file`() async throws {
    let path = try write("sesame-61\n")
    try await Stage.run { stage in
      let server = try Server(
        stage.environment.merging([
          "RIDEPULSE_ADMIN": "127.0.0.1:0", "RIDEPULSE_ADMIN_TOKEN_FILE": path,
        ]) { $1 })
      try await server.waitForLog("Admin server")
      try await stage.addRide()
      let url = "http://127.0.0.1:\(server.field("port") ?? "")"
      let event = #"{"event": "eta_changed", "ride_id": "r1"}"#
      let stranger = APIClient(url: url, token: "sesame-62")
      #expect(try stranger.post("/v1/events", event).code == "unauthorized")
      let known = APIClient(url: url, token: "sesame-61")
      try await wait(until: "/readyz answers 200") { try known.get("/readyz").status == 200 }
      let posted = try known.post("/v1/events", event)
      #expect(posted.eventID != nil, "\(posted)")
      #expect(server.stop() == 0)
    }
  }
}
