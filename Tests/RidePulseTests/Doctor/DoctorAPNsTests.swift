import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("The doctor's checks of APNs", .timeLimit(.minutes(60))) struct DoctorAPNsTests {
  @Test func `Refusals by APNs are reported with their cause for each app`() async throws {
    try await Stage.run { stage in
      let answers = [
        ("TopicDisallowed", 400, "failure", "correct APNS_DRIVER_BUNDLE_ID"),
        ("DeviceTokenNotForTopic", 400, "failure", "compare APNS_DRIVER_BUNDLE_ID"),
        ("BadEnvironmentKeyInToken", 403, "failure", "APNS_DRIVER_SANDBOX_KEY_ID"),
        ("BadDeviceToken", 400, "ok", "SIMKEY0001 and topic are accepted"),
        ("ServiceUnavailable", 503, "warning", "doctor later"),
        ("PayloadEmpty", 400, "failure", "PayloadEmpty"),
      ]
      for (reason, status, standing, words) in answers {
        try stage.faults(
          """
          [{"match": {"topic": "com.example.driver"},
            "action": {"answer": {"status": \(status), "reason": "\(reason)"}}}]
          """)
        let checkup = try Checkup(stage.environment)
        checkup.expect("push production driver", standing, words)
        checkup.expect("push production customer", "ok")
      }
    }
  }

  @Test func `A push without an answer ends, and so does the doctor`() async throws {
    try await Stage.run { stage in
      try stage.faults(#"[{"match": {}, "action": {"stall": true}}]"#)
      let checkup = try Checkup(stage.environment)
      checkup.expect("connection production", "ok")
      checkup.expect("push production customer", "failure", "no answer in time")
      checkup.expect("clock production", "skipped")
    }
  }

  @Test func `A wrong key, key ID or team is found`() async throws {
    try await Stage.run { stage in
      func check(_ changed: [String: String]) throws -> Checkup {
        try Checkup(stage.environment.merging(changed) { $1 })
      }
      let other = try check(["APNS_KEY_ID": "OTHERKEY01"])
      other.expect("key ID", "warning", "the key file's name has SIMKEY0001")
      other.expect("push production customer", "failure", "do not fit together")
      try check(["APNS_TEAM_ID": "OTHERTEAM1"])
        .expect("push production customer", "failure", "APNS_TEAM_ID")
      let short = try check(["APNS_TEAM_ID": "team"])
      short.expect("team ID", "failure", "10 characters of A-Z and 0-9")
      short.expect("push production", "skipped", "needs key")
      let path = try Self.key(stage.directory + "/p384.p8", curve: "P-384")
      try check(["APNS_PRIVATE_KEY_PATH": path])
        .expect("key file", "failure", "secp384r1")
      try check(["APNS_PRIVATE_KEY_PATH": stage.directory + "/ca.pem"])
        .expect("key file", "failure", "BEGIN PRIVATE KEY")
      try check(["APNS_PRIVATE_KEY_PATH": "/nope.p8"]).expect(
        "key file", "failure", "ls -l /nope.p8")
      let open = try Self.key(stage.directory + "/open.p8", curve: "P-256")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
      try check(["APNS_PRIVATE_KEY_PATH": open]).expect("key file", "warning", "chmod 600")
    }
  }

  private static func key(_ path: String, curve: String) throws -> String {
    let made = try Command.run(
      "/usr/bin/openssl",
      ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", path])
    #expect(made.status == 0, "\(made.errors)")
    return path
  }

  @Test func `R99 each key and certificate is tried in each environment that it is for`()
    async throws
  {
    try await Stage.run { stage in
      let directory = try ScratchFolder.create("mtls")
      defer { ScratchFolder.remove(directory) }
      try Self.issueCertificate(of: "com.example.driver", in: directory)
      let sandbox = try LocalSimulator(
        directory: stage.directory,
        options: ["--environment", "sandbox", "--client-ca", directory + "/ca.crt"])
      defer { sandbox.stop() }
      let keys = #"{"SANDBOX001": {"environments": ["sandbox"]}}"#
      try Data(keys.utf8).write(
        to: URL(fileURLWithPath: stage.directory + "/keys.json"), options: .atomic)
      let path = stage.directory + "/AuthKey_SANDBOX001.p8"
      try await wait(until: "the key is there") { FileManager.default.fileExists(atPath: path) }
      var environment = stage.environment.merging([
        "APNS_SANDBOX_URL": sandbox.url, "APNS_SANDBOX_PRIVATE_KEY_PATH": path,
        "APNS_DRIVER_CERTIFICATE_PATH": directory + "/client.crt",
        "APNS_DRIVER_CERTIFICATE_KEY_PATH": directory + "/client.key",
      ]) { $1 }
      let right = try Checkup(environment)
      right.expect("key ID APNS_SANDBOX", "ok", "SANDBOX001, from the file's name")
      right.expect("certificate driver", "warning", "expires on")
      right.expect("push production customer", "ok", "SIMKEY0001")
      right.expect("push sandbox customer", "ok", "SANDBOX001")
      right.expect("push sandbox driver", "ok", "certificate com.example.driver")
      right.expect("push sandbox driver liveactivity", "ok", "SANDBOX001")

      let other = try ScratchFolder.create("mtls-other")
      defer { ScratchFolder.remove(other) }
      try Self.issueCertificate(of: "com.example.driver", in: other)
      let strange = try Checkup(
        environment.merging([
          "APNS_DRIVER_CERTIFICATE_PATH": other + "/client.crt",
          "APNS_DRIVER_CERTIFICATE_KEY_PATH": other + "/client.key",
        ]) { $1 })
      strange.expect("push sandbox driver", "failure", "in the TLS handshake")
      strange.expect("push sandbox driver", "failure", "compare APNS_DRIVER_CERTIFICATE_PATH")

      environment["APNS_PRIVATE_KEY_PATH"] = path
      environment["APNS_KEY_ID"] = nil
      let wrong = try Checkup(environment)
      wrong.expect(
        "push production customer", "failure", "BadEnvironmentKeyIdInToken")
      wrong.expect("push production customer", "failure", "APNS_CUSTOMER_KEY_ID")
      wrong.expect("push sandbox customer", "ok")
    }
  }

  /// Makes a CA and a certificate that expires within a month.
  private static func issueCertificate(of bundleID: String, in directory: String) throws {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    let subject = "/UID=\(bundleID)/CN=Apple Push Services: \(bundleID)"
    for words in [
      ["req", "-x509", "-subj", "/CN=Client CA", "-keyout", "ca.key", "-out", "ca.crt"] + key,
      ["req", "-subj", subject, "-keyout", "client.key", "-out", "client.csr"] + key,
      [
        "x509", "-req", "-in", "client.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-out",
        "client.crt", "-set_serial", "1", "-days", "10",
      ],
    ] {
      let made = try Command.run("/usr/bin/openssl", words, in: directory)
      #expect(made.status == 0, "\(made.errors)")
    }
  }

  @Test func `Phones of the other environment are checked there, and phones without a topic named`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd2', '\(String(repeating: "d2", count: 32))',
          'sandbox');
        select ridepulse.register_device('courier', 'k1', '\(String(repeating: "a1", count: 32))')
        """)
      let dead = try Checkup(
        stage.environment.merging(["APNS_SANDBOX_URL": "https://127.0.0.1:1"]) { $1 })
      dead.expect("connection production", "ok")
      dead.expect("connection sandbox", "failure")
      dead.expect("push sandbox", "skipped", "needs connection sandbox")
      dead.expect("phones driver", "ok", "1 production, 1 sandbox")
      dead.expect("phones courier", "warning", "export APNS_COURIER_BUNDLE_ID=")
      let live = try Checkup(
        stage.environment.merging(["APNS_SANDBOX_URL": stage.simulator.url]) { $1 })
      live.expect("push sandbox driver", "ok")
      let turned = try Checkup(
        stage.environment.merging([
          "APNS_SANDBOX": "true", "APNS_SANDBOX_URL": stage.simulator.url,
        ]) { $1 })
      // No row names production, so all phones are in the sandbox now.
      turned.expect("phones driver", "ok", "2 sandbox")
      #expect(!turned.checks.contains { $0.name == "connection production" })
    }
  }

  @Test func `Unusable settings, topics and rule files are named`()
    async throws
  {
    try await Stage.run { stage in
      let wrong: [([String: String], String, String)] = [
        (["APNS_SANDBOX": "maybe"], "endpoints", "APNS_SANDBOX is maybe"),
        (["APNS_PRODUCTION_URL": "http://x"], "endpoints", "APNS_PRODUCTION_URL"),
        (["APNS_CA_FILE": "/nope.pem"], "endpoints", "APNS_CA_FILE"),
        (["APNS_CA_FILE": #filePath], "connection production", "export APNS_CA_FILE"),
        (["APNS_CA_FILE": ""], "connection production", "export APNS_CA_FILE"),
        (["APNS_DRIVER_BUNDLE_ID": "a b"], "bundle ID driver", "export APNS_DRIVER_BUNDLE_ID"),
        (["APNS_DRIVER_BUNDLE_ID": ""], "topic driver", "export APNS_DRIVER_BUNDLE_ID"),
        (
          try stage.environment(rules: "rules:\n  - nam: x\n"), "rule files",
          "a.yaml:2:5: "
        ),
      ]
      for (changed, name, words) in wrong {
        let checkup = try Checkup(stage.environment.merging(changed) { $1 })
        checkup.expect(name, "failure", words)
        checkup.expect("postgres", "ok")
        if name == "rule files" { checkup.expect(name, "failure", "ridepulse check /tmp/") }
      }
    }
  }

  @Test(arguments: ["plain", "refusing"])
  func `A server without HTTP/2 is distinguished from an untrusted one`(kind: String) async throws {
    try await Stage.run { stage in
      let server = try WrongServer.tls(
        stage.directory, words: kind == "plain" ? [] : ["-alpn", "http/1.1"])
      defer { server.stop() }
      let environment = stage.environment.merging(["APNS_PRODUCTION_URL": server.url]) { $1 }
      try Checkup(environment).expect("connection production", "failure", "must support h2")
      // This server refuses HTTP/2 before it sends its certificate.
      if kind == "refusing" { return }
      try Checkup(environment.merging(["APNS_CA_FILE": ""]) { $1 })
        .expect("connection production", "failure", "export APNS_CA_FILE")
    }
  }

  @Test func `Servers that accept connections and send nothing do not block the doctor`() throws {
    let server = try WrongServer.silent()
    defer { server.stop() }
    let checkup = try Checkup([
      "APNS_PRODUCTION_URL": server.url, "DATABASE_URL": "host=127.0.0.1 port=\(server.port)",
    ])
    checkup.expect("postgres", "failure", "no answer within 5")
    checkup.expect("connection production", "failure", "SSL connection timeout")
    checkup.expect("rule files", "failure")
  }
}
