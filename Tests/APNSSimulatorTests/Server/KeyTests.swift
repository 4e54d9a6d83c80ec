import Foundation
import TestSupport
import Testing

/// Several keys, their scopes and client certificates, from a client's point of view.
@Suite struct KeyTests {
  private func jwt(_ simulator: RunningSimulator, key: String, age: Int = 0) throws -> String {
    let issuedAt = Int(Date().timeIntervalSince1970) - age
    let path = simulator.directory.appendingPathComponent("AuthKey_\(key).p8").path
    return try JWT(issuedAt: issuedAt, keyID: key).signed(keyPath: path)
  }

  /// Returns the refusal of a push with the key, or "accepted".
  private func answer(_ simulator: RunningSimulator, key: String) throws -> String {
    let reply = try simulator.push(jwt: jwt(simulator, key: key))
    return reply.status == 200 ? "accepted" : "\(reply.status) \(reply.body)"
  }

  private func write(_ keys: String, to simulator: RunningSimulator) throws {
    let url = simulator.directory.appendingPathComponent("keys.json")
    try Data(keys.utf8).write(to: url, options: .atomic)
  }

  @Test func `R99 keys are added, limited and revoked while the simulator runs`() async throws {
    let simulator = try RunningSimulator()
    try write(
      """
      {"NEWKEY0001": {}, "SANDBOX001": {"environments": ["sandbox"]},
       "DRIVERKEY1": {"topics": ["com.example.driver"]}}
      """, to: simulator)
    let path = simulator.directory.appendingPathComponent("AuthKey_SANDBOX001.p8").path
    try await wait(until: "the keys are there") { FileManager.default.fileExists(atPath: path) }
    #expect(try answer(simulator, key: "NEWKEY0001") == "accepted")
    #expect(try answer(simulator, key: "SIMKEY0001") == "accepted", "the first key stays")
    let environment = #"403 {"reason":"BadEnvironmentKeyIdInToken"}"#
    #expect(try answer(simulator, key: "SANDBOX001") == environment)
    #expect(try answer(simulator, key: "DRIVERKEY1") == #"403 {"reason":"Forbidden"}"#)

    try write(#"{"NEWKEY0001": {"revoked": true}}"#, to: simulator)
    let revoked = #"403 {"reason":"InvalidProviderToken"}"#
    try await wait(until: "the key is revoked") {
      try answer(simulator, key: "NEWKEY0001") == revoked
    }
    let last = try #require(try simulator.records().last)
    #expect(last["detail"] as? String == "key NEWKEY0001 is revoked")
    #expect((last["jwt"] as? [String: Any])?["kid"] as? String == "NEWKEY0001")
  }

  @Test func `R99 a foreign key on a connection is refused`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "sim-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let keys = #"{"CUSTOMER01": {"topics": ["com.example.customer"]}}"#
    try Data(keys.utf8).write(to: directory.appendingPathComponent("keys.json"))
    let simulator = try RunningSimulator(directory: directory)
    let words = try ["SIMKEY0001", "CUSTOMER01"].map {
      try simulator.words(jwt: jwt(simulator, key: $0))
    }
    _ = try simulator.curl(words[0] + ["--next"] + words[1])
    let records = try simulator.records()
    #expect(records.map { $0["connection"] as? Int } == [1, 1])
    #expect(records.last?["reason"] as? String == "UnrelatedKeyIdInToken")
  }

  @Test(arguments: [
    (#"{"A": {"environments": ["dev"]}}"#, "A.environments"), (#"{"A": {"topic": []}}"#, "A"),
    (#"{"A": {"topics": "x"}}"#, "A.topics"), (#"{"../A": {}}"#, #"key "../A""#),
    ("[]", "expected"),
    ("{", "byte"), (#"{"A": {"revoked": 1}}"#, "A.revoked"),
  ])
  func `R99 a bad file of keys is refused with its path`(text: String, path: String) throws {
    let directory = try ScratchFolder.create("keys")
    defer { ScratchFolder.remove(directory) }
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/keys.json"))
    let tool = try Tool.run(
      RunningSimulator.binary.path, ["--port", "0", "--state", directory])
    #expect(tool.status == 1)
    #expect(tool.errors.contains("\(directory)/keys.json"), "\(tool.errors)")
    #expect(tool.errors.contains(path), "\(tool.errors)")
  }

  @Test func `R99 a bad file of keys leaves the old keys in force`() async throws {
    let simulator = try RunningSimulator()
    try write(#"{"NEWKEY0001": {}}"#, to: simulator)
    let path = simulator.directory.appendingPathComponent("AuthKey_NEWKEY0001.pub.pem").path
    try await wait(until: "the key is there") { FileManager.default.fileExists(atPath: path) }
    try write(#"{"NEWKEY0001": {"revoked": "yes"}}"#, to: simulator)
    #expect(try answer(simulator, key: "NEWKEY0001") == "accepted")
  }
}

/// Certificates made by the `openssl` command.
@Suite struct ClientCertificateTests {
  /// A CA and one client certificate in a directory.
  private func issue(_ subject: String, in directory: String) throws -> [String] {
    func openssl(_ words: String...) throws {
      let tool = try Tool.run("/usr/bin/openssl", words, in: directory)
      #expect(tool.status == 0, "\(tool.errors)")
    }
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    let authority = [
      "req", "-x509", "-subj", "/CN=Client CA", "-keyout", "ca.key", "-out", "ca.crt",
    ]
    #expect(try Tool.run("/usr/bin/openssl", authority + key, in: directory).status == 0)
    let request = ["req", "-subj", subject, "-keyout", "client.key", "-out", "client.csr"]
    #expect(try Tool.run("/usr/bin/openssl", request + key, in: directory).status == 0)
    try openssl(
      "x509", "-req", "-in", "client.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-out",
      "client.crt", "-set_serial", "0x1F2E")
    return ["--cert", directory + "/client.crt", "--key", directory + "/client.key"]
  }

  @Test func `R105 a certificate authenticates without a provider token`() throws {
    let directory = try ScratchFolder.create("mtls")
    defer { ScratchFolder.remove(directory) }
    let words = try issue("/UID=com.example.customer/CN=Apple Push Services", in: directory)
    let simulator = try RunningSimulator(["--client-ca", directory + "/ca.crt"])
    let reply = Reply(try simulator.curl(words + simulator.words(jwt: "junk")).output)
    #expect(reply.status == 200, "\(reply)")
    let record = try #require(try simulator.records().first)
    let certificate = try #require(record["certificate"] as? [String: Any])
    #expect(certificate["serial"] as? String == "1F2E")
    #expect(certificate["topics"] as? [String] == ["com.example.customer"])
    #expect(record["jwt"] == nil)
    #expect(try simulator.push().status == 200, "a provider token still counts without one")
  }

  @Test func `R105 a certificate of another authority ends the handshake`() throws {
    let directories = try [ScratchFolder.create("mtls"), ScratchFolder.create("mtls")]
    defer { directories.forEach(ScratchFolder.remove) }
    let words = try directories.map { try issue("/CN=com.example.customer", in: $0) }
    let simulator = try RunningSimulator(["--client-ca", directories[0] + "/ca.crt"])
    let foreign = try simulator.curl(words[1] + simulator.words())
    #expect(foreign.status != 0 && foreign.output.isEmpty, "\(foreign)")
    #expect(try simulator.records().isEmpty)
    #expect(Reply(try simulator.curl(words[0] + simulator.words()).output).status == 200)
  }
}
