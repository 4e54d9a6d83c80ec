import Base
import LocalStack
import PostgresStore
import Testing
import TestSupport

/// Android phones over HTTP, with real processes and curl.
@Suite("Android phones over HTTP", .timeLimit(.minutes(60))) struct AndroidAPITests {
  private static let token = "cAbDefGhIjKlMnOpQrStU_:APA91bF-Xy_z"
  private static let inPath = token.replacing(":", with: "%3A")

  private func body(_ token: String, _ rest: String = "") -> String {
    #"{"app": "customer", "owner_id": "c1", "token": "\#(token)", "platform": "android"\#(rest)}"#
  }

  @Test func `a phone is registered and signed out byte for byte, and its card dismissed once`()
    async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let answer = try api.post("/v1/devices", body(Self.token, #", "alerts": false"#))
      #expect(answer.status == 200 && answer.string("token_suffix") == "F-Xy_z", "\(answer)")
      #expect(
        try await stage.rows(
          "select token, platform, alerts, installation_id from ridepulse.devices")
          == [[Self.token, "android", "f", "cAbDefGhIjKlMnOpQrStU_"]])
      let card = try await stage.value("select id from ridepulse.devices") ?? ""
      for (query, withdrawn) in [("?owner_id=c2", false), ("?owner_id=c1", true), ("", false)] {
        let end = try api.send("DELETE", "/v1/live-activities/customer/\(card).r1\(query)", nil)
        #expect(end.status == 200, "\(end)")
        #expect(end.text.contains(#""withdrawn": \#(withdrawn)"#), "\(query): \(end)")
      }
      let typo = try api.send("DELETE", "/v1/live-activities/customer/\(card).r1?owner=c2", nil)
      #expect(typo.code == "unknown_field" && typo.field == "owner", "\(typo)")
      for (path, withdrawn) in [
        (Self.inPath.lowercased(), false), (Self.inPath, true), (Self.inPath, false),
      ] {
        let end = try api.send("DELETE", "/v1/devices/customer/\(path)", nil)
        #expect(end.text.contains(#""withdrawn": \#(withdrawn)"#), "\(path): \(end)")
        #expect(!end.text.contains("cAbDef"), "\(end)")
      }
    }
  }

  @Test func `what does not fit the platform is refused with a hint`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      for (given, field, hint) in [
        (body(String(repeating: "aB", count: 32)), "token", "send platform ios or leave it out"),
        (body(Self.token, #", "environment": "sandbox""#), "environment", "no environments"),
        (body(Self.token).replacing("android", with: "ios"), "token", "needs platform android"),
        (body(Self.token).replacing("android", with: "windows"), "platform", "ios, android"),
      ] {
        let answer = try api.post("/v1/devices", given)
        #expect(answer.status == 422 && answer.code == "invalid_value", "\(answer)")
        #expect(answer.field == field && answer.text.contains(hint), "\(answer)")
        #expect(!answer.text.contains("cAbDef"), "\(answer)")
      }
      #expect(try await stage.value("select count(*) from ridepulse.devices") == "0")
    }
  }
}
