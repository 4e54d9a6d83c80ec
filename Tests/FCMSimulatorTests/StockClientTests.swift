import Foundation
import TestSupport
import Testing

@testable import FCMSimulator

/// Clients of others, unchanged: Google's library and Node's HTTP/2.
@Suite struct StockClientTests {
  private static let hasGoogleAuth =
    (try? Tool.run("/usr/bin/env", ["python3", "-c", "import google.auth, requests"]))?.status == 0

  /// Google's own library, from PyPI: assertion, access token and message without a word of ours.
  @Test(.enabled(if: hasGoogleAuth, "needs google-auth and requests from PyPI"))
  func `google-auth is served`() throws {
    let simulator = try RunningFCM(["--strict", "all"])
    let script = """
      import sys
      from google.auth.transport.requests import AuthorizedSession
      from google.oauth2 import service_account
      credentials = service_account.Credentials.from_service_account_file(
          sys.argv[1], scopes=["https://www.googleapis.com/auth/firebase.messaging"])
      answer = AuthorizedSession(credentials).post(sys.argv[2], data=sys.argv[3])
      print(answer.status_code, answer.text)
      """
    let path = simulator.process.directory.appendingPathComponent("service-account.json").path
    let environment = ProcessInfo.processInfo.environment.merging(
      ["REQUESTS_CA_BUNDLE": simulator.process.authorityPath]) { $1 }
    let result = try Tool.run(
      "/usr/bin/env",
      [
        "python3", "-c", script, path, simulator.url + "/v1/projects/rides/messages:send",
        RunningFCM.message(),
      ], environment: environment)
    #expect(result.output.hasPrefix("200 "), "\(result.output) \(result.errors)")
  }

  private static let node = "/usr/bin/node"
  private static let hasNode = FileManager.default.isExecutableFile(atPath: node)

  @Test(.enabled(if: hasNode, "needs Debian's nodejs"))
  func `Node's HTTP/2 is served`() throws {
    let simulator = try RunningFCM(["--strict", "all"])
    let script = """
      const [url, ca, token, body] = process.argv.slice(1)
      const session = require("http2").connect(url, { ca: require("fs").readFileSync(ca) })
      session.on("error", (error) => { console.log(error.message); process.exit(1) })
      const send = (left) => {
        const stream = session.request({
          ":method": "POST", ":path": "/v1/projects/rides/messages:send",
          authorization: "Bearer " + token, "content-type": "application/json",
        })
        let [status, text] = [0, ""]
        stream.on("response", (headers) => { status = headers[":status"] })
        stream.on("data", (data) => { text += data })
        stream.on("end", () => {
          console.log(status, text)
          if (left > 1) send(left - 1); else session.close()
        })
        stream.end(body)
      }
      send(3)
      """
    let result = try Tool.run(
      Self.node,
      [
        "-e", script, simulator.url, simulator.process.authorityPath,
        try simulator.accessToken(), RunningFCM.message(),
      ])
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("200 {") }, "\(result)")
    #expect(Set(try simulator.process.records().map { $0["connection"] as? Int }).count == 1)
  }
}
