import Foundation
import Testing

@testable import PushClient

@Suite struct SigningKeyTests {
  private func error(_ name: String, keyID: String = "ABCDE12345", teamID: String = "TEAM123456")
    throws -> SigningKeyError?
  {
    let path = try Fixtures.shared.get().path(name)
    do {
      _ = try SigningKey(path: path, keyID: keyID, teamID: teamID)
      return nil
    } catch { return error }
  }

  @Test("Apple's form of key is read")
  func good() throws {
    #expect(try error("key.p8") == nil)
  }

  @Test("A missing file is named, with the system's reason")
  func missing() throws {
    let path = try Fixtures.shared.get().path("gone.p8")
    let error = try error("gone.p8")
    #expect(error == .unreadable(path: path, reason: "No such file or directory"))
    #expect(
      error?.description == "can't read the APNs signing key \(path): No such file or directory")
  }

  @Test("What is no private key is refused", arguments: ["junk.p8", "key.pub.pem", "locked.p8"])
  func noKey(name: String) throws {
    #expect(try error(name) == .notPrivateKey(path: Fixtures.shared.get().path(name)))
  }

  @Test(
    "Another kind of key is refused by name",
    arguments: [("p384.p8", "secp384r1"), ("rsa.p8", "RSA")])
  func wrongKind(name: String, kind: String) throws {
    #expect(try error(name) == .notP256(path: Fixtures.shared.get().path(name), found: kind))
  }

  @Test(
    "IDs are ten characters of A-Z and 0-9",
    arguments: ["", "ABCDE1234", "ABCDE123456", "abcde12345", "ABCDE1234\"", "ABCDE1234É"])
  func badID(id: String) throws {
    #expect(try error("key.p8", keyID: id) == .badKeyID(id))
    #expect(try error("key.p8", teamID: id) == .badTeamID(id))
  }

  @Test("No description holds any of the key")
  func secrecy() throws {
    let path = try Fixtures.shared.get().path("key.p8")
    let key = try SigningKey(path: path, keyID: "ABCDE12345", teamID: "TEAM123456")
    let secret = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")[1].prefix(
      20)
    for text in ["\(key)", String(reflecting: key), String(describing: Mirror(reflecting: key))] {
      #expect(!text.contains(secret))
    }
    #expect("\(key)" == "APNs signing key ABCDE12345 of team TEAM123456")
  }
}
