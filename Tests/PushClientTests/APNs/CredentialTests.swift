import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

@Suite struct CredentialTests {
  @Test func `R99: the key ID is in the name of the file that a path leads to`() throws {
    let fixtures = try Fixtures.shared.get()
    let folder = fixtures.path("keys")
    let files = FileManager.default
    try? files.removeItem(atPath: folder)
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    func link(_ name: String, to target: String) throws -> String {
      try files.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
      return "\(folder)/\(name)"
    }
    for name in ["AuthKey_ABCDE12345.p8", "AuthKey_abcde12345.p8", "AuthKey_ABCDE1234.p8", "x.p8"] {
      try files.copyItem(atPath: fixtures.path("key.p8"), toPath: "\(folder)/\(name)")
    }
    let cases: [(path: String, keyID: String?)] = [
      ("\(folder)/AuthKey_ABCDE12345.p8", "ABCDE12345"),
      (try link("current.p8", to: "AuthKey_ABCDE12345.p8"), "ABCDE12345"),
      (try link("AuthKey_ZZZZZ99999.p8", to: "current.p8"), "ABCDE12345"),
      (try link("AuthKey_YYYYY99999.p8", to: "x.p8"), nil),
      ("\(folder)/AuthKey_abcde12345.p8", nil), ("\(folder)/AuthKey_ABCDE1234.p8", nil),
      ("\(folder)/x.p8", nil), (try link("broken.p8", to: "AuthKey_GONE567890.p8"), nil),
      ("", nil), ("a\0b", nil),
    ]
    for (path, keyID) in cases {
      #expect(SigningKeyFile(path).keyID == keyID, "\(path)")
    }
  }

  @Test func `R99: the ID and the content are of one file if the link moves in between`() throws {
    let fixtures = try Fixtures.shared.get()
    let folder = fixtures.path("moving")
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (old, new) = ("\(folder)/AuthKey_ABCDE12345.p8", "\(folder)/AuthKey_NEXT567890.p8")
    try files.copyItem(atPath: fixtures.path("key.p8"), toPath: old)
    try files.copyItem(atPath: fixtures.path("next.p8"), toPath: new)
    let link = "\(folder)/current.p8"
    try files.createSymbolicLink(atPath: link, withDestinationPath: old)
    let file = SigningKeyFile(link)
    let keyID = try #require(file.keyID)
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: new)
    let loaded = try SigningKey(file, keyID: keyID, teamID: "TEAM123456")
    #expect(try loaded == fixtures.key("key.p8", "ABCDE12345"))
    #expect(loaded.keyIDOfFile == "ABCDE12345")
  }

  @Test func `R99: keys are equal by IDs and public key, not by file`() throws {
    let fixtures = try Fixtures.shared.get()
    let copy = fixtures.path("copy.p8")
    let pem = try Data(contentsOf: URL(fileURLWithPath: fixtures.path("key.p8")))
    try (pem + Data("\n".utf8)).write(to: URL(fileURLWithPath: copy))
    let key = try fixtures.key()
    #expect(try fixtures.key("copy.p8") == key)
    #expect(try fixtures.key("next.p8") != key)
    #expect(try fixtures.key("key.p8", "OTHER67890") != key)
    #expect(
      try SigningKey(path: copy, keyID: "ABCDE12345", teamID: "OTHERTEAM1") != key)
  }

  @Test func `R105: a certificate is read with its key, and a mistake is named`() throws {
    let fixtures = try Fixtures.shared.get()
    let certificate = try fixtures.clientCertificate()
    #expect(certificate.bundleID == "com.example.driver" && certificate.commonName == "Push")
    let days = certificate.expires - Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970))
    #expect(days > .seconds(29 * 86_400) && days <= .seconds(30 * 86_400))
    #expect(try fixtures.clientCertificate() == certificate)
    func error(_ name: String, _ key: String) -> ClientCertificateError? {
      do throws(ClientCertificateError) {
        _ = try ClientCertificate(path: fixtures.path(name), keyPath: fixtures.path(key))
        return nil
      } catch { return error }
    }
    let (pem, key) = (fixtures.path("client.pem"), fixtures.path("client.key"))
    #expect(
      error("client.pem", "server.key")
        == .mismatch(path: pem, keyPath: fixtures.path("server.key")))
    #expect(error("client.key", "client.key") == .notCertificate(path: key))
    #expect(error("client.pem", "client.pem") == .notPrivateKey(path: pem))
    #expect(error("client.pem", "locked.p8") == .notPrivateKey(path: fixtures.path("locked.p8")))
    let gone = fixtures.path("gone.pem")
    #expect(
      error("gone.pem", "client.key")
        == .unreadable(path: gone, reason: "No such file or directory"))
    let secret = try String(contentsOfFile: key, encoding: .utf8).split(separator: "\n")[1].prefix(
      20)
    let texts = [
      "\(certificate)", "\(Mirror(reflecting: certificate))", String(reflecting: certificate),
    ]
    #expect(texts.allSatisfy { !$0.contains(secret) })
  }

  @Test func `R105: what a lane presents depends on the push type`() throws {
    let fixtures = try Fixtures.shared.get()
    let (key, certificate) = (try fixtures.key(), try fixtures.clientCertificate())
    let cases: [(Credentials.Choice, PushType, Credential?)] = [
      (.init(key: key), .alert, .key(key)), (.init(key: key), .liveactivity, .key(key)),
      (.init(certificate: certificate), .alert, .certificate(certificate)),
      (.init(certificate: certificate), .background, .certificate(certificate)),
      (.init(certificate: certificate), .liveactivity, nil),
      (.init(key: key, certificate: certificate), .alert, .certificate(certificate)),
      (.init(key: key, certificate: certificate), .liveactivity, .key(key)), (.init(), .alert, nil),
    ]
    for (choice, type, expected) in cases {
      #expect(choice.credential(for: type) == expected, "\(choice) \(type)")
    }
    #expect(Credentials.Choice(certificate: certificate).forChannels == .certificate(certificate))
    #expect(Credentials.Choice(key: key, certificate: certificate).forChannels == .key(key))
  }
}
