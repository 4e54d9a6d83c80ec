import Base
import Foundation
import LocalStack
import TestSupport
import Testing

/// The proxies of `clients/proxies` between a phone and `ridepulse serve`.
@Suite(.timeLimit(.minutes(60))) struct ProxyTests {
  static let folder = Project.path("clients/proxies")

  /// A way to start a proxy.
  struct Language: Sendable, CustomTestStringConvertible {
    let program: String
    let file: String

    var testDescription: String { program }

    var isInstalled: Bool {
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Starts it for two persons: `c1` has the ride `r1`, `c2` has `r2`. Returns it and a phone's
    /// client.
    func start(_ backend: String, token: String) throws -> (LineProcess, APIClient) {
      let sessions =
        #"{"s1": {"owner": "c1", "apps": ["customer"]}, "s2": {"owner": "c2", "apps": ["customer"]}}"#
      // A child of this process does not receive SIGTERM unless it unblocks it, and a proxy has no reason to.
      let proxy = try LineProcess(
        "/bin/sh",
        [
          "-c", #""$@" & child=$!; cat > /dev/null; kill -9 $child"#, "sh", "/usr/bin/env",
          "RIDEPULSE_URL=\(backend)", "RIDEPULSE_ADMIN_TOKEN=\(token)", "PORT=0",
          "SESSIONS=\(sessions)", #"RIDES={"r1": ["c1"], "r2": ["c2"]}"#, program,
          "\(folder)/\(file)",
        ])
      let port = proxy.firstLine.split(separator: " ").last ?? ""
      return (proxy, APIClient(url: "http://127.0.0.1:\(port)/push", token: "s1"))
    }
  }

  static let languages = [
    Language(program: "python3", file: "proxy.py"), Language(program: "node", file: "proxy.mjs"),
  ].filter(\.isInstalled)

  private static let token = String(repeating: "ab", count: 32)
  private static let phones = """
    select coalesce(string_agg(app || ' ' || owner_id, ',' order by owner_id), '')
    from ridepulse.devices where disabled_at is null
    """

  @Test(arguments: languages)
  func `R96: a phone registers for the person of its session, whatever it claims`(
    language: Language
  ) async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let (proxy, phone) = try language.start(api.url, token: api.token ?? "")
      defer { proxy.stop() }
      let other = APIClient(url: phone.url, token: "s2")
      let device =
        #"{"app": "driver", "owner_id": "c9", "token": "\#(Self.token)", "installation_id": "i1"}"#
      let first = try phone.post("/v1/devices", device, key: "k1")
      #expect(first.status == 200 && first.string("owner_id") == "c1", "\(first)")
      #expect(try phone.post("/v1/devices", device, key: "k1").text == first.text)
      #expect(try await stage.value(Self.phones) == "customer c1")

      _ = try api.send("PUT", "/v1/rides/r1", #"{"state": "requested", "customer_id": "c1"}"#)
      let card = #"{"ride_id": "r1", "token": "\#(Self.token)", "activity_id": "A1"}"#
      #expect(try other.post("/v1/live-activities", card).status == 403)
      #expect(try phone.post("/v1/live-activities", card).status == 200)
      // A ride of one's own is no key to another person's card.
      let claim = #"{"ride_id": "r2", "token": "\#(Self.token)", "activity_id": "A1"}"#
      #expect(try other.post("/v1/live-activities", claim).status == 422)
      #expect(try await stage.value("select owner_id from ridepulse.live_activities") == "c1")
      let end = "/v1/live-activities/customer/A1"
      let foreign = try other.send("DELETE", end + "?owner_id=c1", nil)
      #expect(foreign.body?.value(at: ["withdrawn"]) == .bool(false), "\(foreign)")
      let signedOut = try phone.send("DELETE", end + "?owner_id=c9&reason=signed_out", nil)
      #expect(signedOut.body?.value(at: ["withdrawn"]) == .bool(true), "\(signedOut)")
      #expect(
        try await stage.value("select ended_reason from ridepulse.live_activities") == "signed_out")

      let start = #"{"token": "\#(Self.token)", "attributes_type": "RideAttributes"}"#
      #expect(try phone.post("/v1/push-to-start", start).string("owner_id") == "c1")
      let contact = try phone.post("/v1/contact", #"{"owner_id": "c9", "installation_id": "i1"}"#)
      #expect(contact.string("owner_id") == "c1")
      let topic = #"{"owner_id": "c9", "topic": "news", "allowed": false}"#
      #expect(try phone.send("PUT", "/v1/preferences", topic).string("owner_id") == "c1")
      let seen = #"{"apns_id": "3c73e4aa-6652-4016-b15c-6e64ca4ee44d", "owner_id": "c9"}"#
      #expect(try phone.post("/v1/seen", seen).status == 204)
      // What RidePulse refuses arrives as it answered.
      let refused = try phone.post("/v1/devices", #"{"token": "zz"}"#)
      #expect(refused.status == 422 && refused.field == "token", "\(refused)")
      #expect(try phone.send("DELETE", "/v1/devices/customer/\(Self.token)", nil).status == 200)
      #expect(try await stage.value(Self.phones) == "")
    }
  }

  /// Calls that never reach RidePulse, with the status that the phone receives.
  private static let refused: [(method: String, path: String, body: String?, status: Int)] = [
    ("POST", "/v1/events", #"{"event": "x"}"#, 404), ("PUT", "/v1/rides/r1", "{}", 404),
    ("POST", "/v1/push", "{}", 404), ("DELETE", "/v1/rides/r1", nil, 404),
    ("POST", "/v1/devices/", "{}", 404), ("POST", "/v1/devices/../events", "{}", 404),
    ("DELETE", "/v1/devices/customer/..", nil, 404), ("DELETE", "/v1/devices/customer", nil, 404),
    ("DELETE", "/v1/devices/driver/ab", nil, 403), ("POST", "/wake", "{}", 404),
    ("POST", "/v1/devices", "[1]", 400), ("POST", "/v1/devices", "{", 400),
    ("POST", "/v1/live-activities", #"{"ride_id": "r2"}"#, 403),
    ("POST", "/v1/live-activities", #"{"ride_id": ["r1"]}"#, 403),
    ("POST", "/v1/live-activities", #"{"ride_id": "r1", "activity_id": "17.r2"}"#, 403),
    ("POST", "/v1//live-activities", #"{"ride_id": "r2"}"#, 404),
  ]

  @Test(arguments: languages)
  func `R96: what phones do not call, and what no session has, never reaches RidePulse`(
    language: Language
  ) async throws {
    // Nothing listens there: a call that is passed on is answered with 503.
    let (proxy, phone) = try language.start("http://127.0.0.1:1", token: "sesame-42")
    defer { proxy.stop() }
    for call in Self.refused {
      let data = call.body.map { ["--header", "Content-Type: application/json", "--data", $0] }
      let answer = try phone.ask(
        call.path, ["--path-as-is", "--request", call.method] + (data ?? []))
      #expect(answer.status == call.status, "\(call) \(answer)")
      #expect(answer.code != nil, "\(call) \(answer)")
    }
    for token in [nil, "s3", "__proto__"] {
      let stranger = APIClient(url: phone.url, token: token)
      #expect(try stranger.post("/v1/devices", "{}").status == 401, "\(token ?? "no token")")
    }
    let large = #"{"token": "\#(String(repeating: "a", count: 70_000))"}"#
    #expect(try phone.post("/v1/devices", large).status == 413)
    // The answer to a body that was not read arrives, too.
    let stranger = APIClient(url: phone.url, token: "s3")
    #expect(try stranger.post("/v1/devices", large).status == 401)
    #expect(try phone.post("/v1/devices", "{}").status == 503)
  }

  @Test(arguments: languages)
  func `R96: a bearer token that RidePulse refuses is the backend's fault, and not the phone's`(
    language: Language
  ) async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let (proxy, phone) = try language.start(api.url, token: "wrong")
      defer { proxy.stop() }
      #expect(try phone.post("/v1/devices", "{}").status == 503)
    }
  }

  @Test(arguments: languages)
  func `R96: with https no bearer token goes to a server that has no TLS`(
    language: Language
  ) async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let url = api.url.replacing("http://", with: "https://")
      let (proxy, phone) = try language.start(url, token: api.token ?? "")
      defer { proxy.stop() }
      let device = #"{"token": "\#(Self.token)", "installation_id": "i1"}"#
      #expect(try phone.post("/v1/devices", device).status == 503)
      #expect(try await stage.value(Self.phones) == "")
    }
  }

  @Test(arguments: languages, ["ftp://127.0.0.1:9464", "127.0.0.1:9464", "https://"])
  func `R96: a URL of RidePulse that can't be used ends the proxy at its start`(
    language: Language, url: String
  ) throws {
    let result = try Tool.run(
      "/usr/bin/env",
      [
        "RIDEPULSE_URL=\(url)", "PORT=0", "timeout", "-s", "KILL", "20",
        language.program,
        "\(Self.folder)/\(language.file)",
      ])
    #expect(result.status == 1 && result.errors.contains("RIDEPULSE_URL"), "\(result.errors)")
  }

  @Test func `The proxy for Vapor compiles with Vapor's interface as we read it`() throws {
    try ScratchFolder.with { directory in
      for words in [
        [
          "-emit-module", "-module-name", "Vapor", "-emit-module-path", "Vapor.swiftmodule",
          "\(Self.folder)/vapor/VaporStub.swift",
        ],
        ["-warnings-as-errors", "-typecheck", "\(Self.folder)/vapor/RidePulseProxy.swift"],
      ] {
        let result = try Tool.run(
          "/usr/bin/env",
          ["swiftc", "-swift-version", "6", "-parse-as-library", "-I", directory] + words,
          in: directory)
        #expect(result.status == 0, "\(result.errors)")
      }
    }
  }
}
