import Base
import Foundation
import TestSupport
import Testing

@testable import PushClient

@Suite struct ServiceAccountTests {
  private func problem(_ json: [UInt8]) -> String? {
    do throws(ServiceAccountError) {
      _ = try ServiceAccount(json: json, file: "a.json")
      return nil
    } catch {
      #expect(error.file == "a.json")
      #expect(error.description.hasPrefix("a.json is not a usable service-account file: "))
      return error.problem
    }
  }

  @Test func `Google's file is read`() throws {
    let account = try AccountFile().account()
    #expect(account.project == "rides-prod")
    #expect(account.clientEmail == "sender@rides-prod.iam.gserviceaccount.com")
    #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
    #expect(account.keyID == "3f9a21c0ffee")
    #expect("\(account)" == "rides-prod/3f9a21")
  }

  @Test func `a file without key ID is named by its key`() throws {
    var file = try AccountFile()
    file.members["private_key_id"] = nil
    let account = try file.account()
    #expect(account.keyID.utf8.count == 16)
    #expect("\(account)" == "rides-prod/" + account.keyID.prefix(6))
  }

  @Test func `a key whose newlines are two characters is read`() throws {
    var file = try AccountFile()
    let same = try file.account()
    file.members["private_key"] = file.members["private_key"]?.replacing("\n", with: "\\n")
    #expect(try file.account() == same)
  }

  @Test(arguments: [
    ("type", "it has no type"), ("project_id", "it has no project_id"),
    ("private_key", "it has no private_key"), ("client_email", "it has no client_email"),
    ("token_uri", "it has no token_uri"),
  ])
  func `a missing member is named`(name: String, problem: String) throws {
    var file = try AccountFile()
    file.members[name] = nil
    #expect(self.problem(try file.json()) == problem)
    #expect(self.problem(try file.json([name: NSNull()])) == problem)
    #expect(self.problem(try file.json([name: 7])) == "its \(name) is not a text")
    #expect(self.problem(try file.json([name: ""])) == "its \(name) is not a text")
  }

  @Test(arguments: [
    ("type", "authorized_user", "its type is not service_account"),
    ("project_id", "a/../b", "its project_id does not have the form of one"),
    ("project_id", "ü", "its project_id does not have the form of one"),
    ("client_email", "nobody", "its client_email is not an address"),
    ("client_email", "a b@c", "its client_email is not an address"),
    ("private_key_id", "\"}", "its private_key_id does not have the form of one"),
    ("token_uri", "http://oauth2.googleapis.com/token", "its token_uri is not an https URL"),
    ("token_uri", "https://", "its token_uri is not an https URL"),
    ("token_uri", "https:///token", "its token_uri is not an https URL"),
    ("token_uri", "https://user@example.com/token", "its token_uri is not an https URL"),
    ("token_uri", "https://example.com:99999/token", "its token_uri is not an https URL"),
    ("token_uri", "https://example.com/token?x=1", "its token_uri is not an https URL"),
    ("token_uri", "https://example.com/a b", "its token_uri is not an https URL"),
    ("token_uri", "file:///etc/passwd", "its token_uri is not an https URL"),
    ("private_key", "nonsense", noPKCS8),
  ])
  func `a wrong member is named`(name: String, value: String, problem: String) throws {
    var file = try AccountFile()
    file.members[name] = value
    #expect(self.problem(try file.json()) == problem)
  }

  private static let noPKCS8 =
    "its private_key is not in PKCS#8 form (-----BEGIN PRIVATE KEY-----)"

  @Test(arguments: [
    ("short.pem", "its private_key has fewer than 2048 bits"),
    ("ec.pem", "its private_key is not an RSA key"), ("pkcs1.pem", noPKCS8),
    ("locked.pem", noPKCS8), ("public.pem", noPKCS8),
  ])
  func `another kind of key is refused`(key: String, problem: String) throws {
    #expect(self.problem(try AccountFile(key: key).json()) == problem)
  }

  @Test func `a key that was cut off is refused`() throws {
    var file = try AccountFile()
    file.members["private_key"] = file.members["private_key"].map { String($0.prefix(400)) }
    #expect(problem(try file.json()) == "its private_key can't be decoded")
  }

  @Test(arguments: ["", "{", "[]", "\"x\"", "-----BEGIN PRIVATE KEY-----"])
  func `what is not an object is refused`(text: String) {
    #expect(problem(Array(text.utf8)) == "it is not a JSON object")
  }

  @Test func `a file that can't be read is named with the system's reason`() {
    #expect(
      throws: ServiceAccountError(
        file: "/nowhere", problem: "it can't be read: No such file or directory")
    ) { try ServiceAccount(path: "/nowhere") }
  }

  @Test func `a file is read from its path`() throws {
    let file = try AccountFile()
    let scratch = try ScratchFile(Data(file.json()))
    #expect(try ServiceAccount(path: scratch.url.path) == file.account())
  }

  @Test func `accounts differ by their key, too`() throws {
    let file = try AccountFile()
    #expect(try file.account() == file.account())
    #expect(try file.account().hashValue == file.account().hashValue)
    #expect(try file.account() != AccountFile(key: "other.pem").account())
    for name in ["project_id", "client_email", "token_uri", "private_key_id"] {
      var other = file
      other.members[name] = try #require(file.members[name]) + "2"
      #expect(try other.account() != file.account(), "\(name)")
    }
  }

  @Test func `no text has anything of the key`() throws {
    var file = try AccountFile()
    let pem = try #require(file.members["private_key"])
    let secret = pem.split(separator: "\n")[1].prefix(20)
    let account = try file.account()
    var texts = ["\(account)", String(reflecting: account)]
    dump(account, to: &texts[0])
    file.members["private_key"] = String(pem.prefix(400))
    texts.append(problem(try file.json()) ?? "")
    for text in texts { #expect(!text.contains(secret)) }
  }

  @Test(arguments: TestSeed.values(20))
  func `a damaged file gives an account or an error`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let good = try AccountFile().json()
    for _ in 0..<25 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      let count = Int.random(in: 0...bytes.count, using: &generator)
      for text in [bytes, Array(good.prefix(count))] {
        do throws(ServiceAccountError) {
          let account = try ServiceAccount(json: text, file: "a.json")
          // A damaged key may still be decoded; then it signs, or says that it does not.
          _ = try? account.assertion(issuedAt: 0)
        } catch {
          #expect(!error.problem.isEmpty)
        }
      }
    }
  }

  @Test func `an assertion has Google's claims, and openssl verifies it`() throws {
    let assertion = try AccountFile().account().assertion(issuedAt: 1_795_250_000)
    let parts = String(decoding: assertion, as: UTF8.self).split(separator: ".")
    #expect(parts.count == 3)
    #expect(
      try decoded(parts[0]) == Data(#"{"alg":"RS256","kid":"3f9a21c0ffee","typ":"JWT"}"#.utf8))
    let claims = try JSONSerialization.jsonObject(with: decoded(parts[1])) as? [String: Any]
    #expect(claims?["iss"] as? String == "sender@rides-prod.iam.gserviceaccount.com")
    #expect(claims?["scope"] as? String == "https://www.googleapis.com/auth/firebase.messaging")
    #expect(claims?["aud"] as? String == "https://oauth2.googleapis.com/token")
    #expect(claims?["iat"] as? Int == 1_795_250_000)
    #expect(claims?["exp"] as? Int == 1_795_253_600)
    #expect(claims?.count == 5)
    let signed = try ScratchFile(Data("\(parts[0]).\(parts[1])".utf8))
    let signature = try ScratchFile(decoded(parts[2]))
    let result = try Tool.run(
      "/usr/bin/openssl",
      [
        "dgst", "-sha256", "-verify", try AccountKeys.shared.get().path("public.pem"),
        "-signature", signature.url.path, signed.url.path,
      ])
    #expect(result.output == "Verified OK\n", "\(result.errors)")
  }

  private func decoded(_ part: Substring) throws -> Data {
    var text = part.replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try #require(Data(base64Encoded: String(text)))
  }
}
