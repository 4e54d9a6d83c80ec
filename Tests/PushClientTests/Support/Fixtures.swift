import Foundation
import TestSupport

@testable import PushClient

/// Keys and certificates for the tests, created once per run by the `openssl` command.
struct Fixtures: Sendable {
  static let shared = Result { try Fixtures() }

  let folder: URL

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private init() throws {
    folder = URL(fileURLWithPath: try ScratchFolder.create("apns-client"))
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8")
    try openssl("pkey -in key.p8 -pubout -out key.pub.pem")
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out next.p8")
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.p8")
    try openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.p8")
    try openssl("pkcs8 -topk8 -in key.p8 -passout pass:secret -out locked.p8")
    try Data("not a key at all\n".utf8).write(to: folder.appendingPathComponent("junk.p8"))
    for name in ["ca", "other-ca"] {
      try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \(name).key")
      try openssl("req -x509 -new -key \(name).key -days 30 -subj /CN=\(name) -out \(name).pem")
    }
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out server.key")
    try openssl("req -new -key server.key -subj /CN=localhost -out server.csr")
    for (name, hosts, days) in [
      ("server", "IP:127.0.0.1,DNS:localhost", 30), ("expired", "IP:127.0.0.1", -1),
      ("other-host", "DNS:push.example", 30),
    ] {
      try Data("subjectAltName=\(hosts)".utf8)
        .write(to: folder.appendingPathComponent("\(name).ext"))
      try openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 1 -days \(days) "
          + "-extfile \(name).ext -out \(name).pem")
    }
    try openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out client.key")
    try openssl("req -new -key client.key -subj /UID=com.example.driver/CN=Push -out client.csr")
    for (ca, name) in [("ca", "client"), ("other-ca", "stranger")] {
      try openssl(
        "x509 -req -in client.csr -CA \(ca).pem -CAkey \(ca).key -set_serial 2 -days 30 "
          + "-out \(name).pem")
    }
  }

  /// Loads a signing key of the test's team.
  func key(_ name: String = "key.p8", _ keyID: String = "ABCDE12345") throws -> SigningKey {
    try SigningKey(path: path(name), keyID: keyID, teamID: "TEAM123456")
  }

  func clientCertificate(_ name: String = "client.pem") throws -> ClientCertificate {
    try ClientCertificate(path: path(name), keyPath: path("client.key"))
  }

  private func openssl(_ arguments: String) throws {
    let words = arguments.split(separator: " ").map(String.init)
    let result = try Tool.run("/usr/bin/openssl", words, in: folder.path)
    guard result.status == 0 else { throw TestFailure("openssl \(arguments): \(result.errors)") }
  }
}
