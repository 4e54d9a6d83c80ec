import Base
import COpenSSL
import Foundation
import RideCore
import Testing

@testable import PushClient

@Suite struct ProviderTokenTests {
  private func key() throws -> SigningKey {
    try SigningKey(
      path: Fixtures.shared.get().path("key.p8"), keyID: "ABCDE12345", teamID: "TEAM123456")
  }

  private func parts(_ token: ProviderToken) throws -> [[UInt8]] {
    let text = String(decoding: token.authorization, as: UTF8.self)
    try #require(text.hasPrefix("bearer "))
    return try text.dropFirst(7).split(separator: ".").map { part in
      var base64 = String(part).replacing("-", with: "+").replacing("_", with: "/")
      base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
      let data = try #require(Data(base64Encoded: base64))
      return [UInt8](data)
    }
  }

  @Test("Header and claims, byte for byte; iat is a number")
  func golden() throws {
    let parts = try parts(ProviderToken(signedBy: key(), issuedAt: 1_700_000_000))
    try #require(parts.count == 3)
    #expect(String(decoding: parts[0], as: UTF8.self) == #"{"alg":"ES256","kid":"ABCDE12345"}"#)
    #expect(
      String(decoding: parts[1], as: UTF8.self) == #"{"iss":"TEAM123456","iat":1700000000}"#)
    #expect(parts[2].count == 64)
  }

  @Test("The signature holds for what is signed, and for nothing else")
  func signature() throws {
    // Many signatures, because r or s begins with zeros in only one of 128.
    for issuedAt in 1_700_000_000..<Int64(1_700_000_300) {
      let token = try ProviderToken(signedBy: key(), issuedAt: issuedAt)
      let message = Array(token.authorization.dropFirst(7).prefix { $0 != 0x2e })
      let whole = Array(token.authorization.dropFirst(7))
      let signed = Array(whole.prefix(whole.lastIndex(of: 0x2e) ?? 0))
      let raw = try parts(token)[2]
      try #require(raw.count == 64)
      #expect(try verify(signed, raw))
      #expect(try !verify(message, raw))
    }
  }

  /// Verifies a signature by OpenSSL with the public key, which the client never has.
  private func verify(_ message: [UInt8], _ raw: [UInt8]) throws -> Bool {
    let path = try Fixtures.shared.get().path("key.pub.pem")
    let file = unsafe BIO_new_file(path, "r")
    defer { unsafe BIO_free_all(file) }
    let key = unsafe PEM_read_bio_PUBKEY(file, nil, nil, nil)
    defer { unsafe EVP_PKEY_free(key) }
    let signature = unsafe ECDSA_SIG_new()
    defer { unsafe ECDSA_SIG_free(signature) }
    unsafe ECDSA_SIG_set0(
      signature, BN_bin2bn(Array(raw[..<32]), 32, nil), BN_bin2bn(Array(raw[32...]), 32, nil))
    var der: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_ECDSA_SIG(signature, &der)
    defer { unsafe CRYPTO_free(der, "", 0) }
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key)
    return unsafe EVP_DigestVerify(context, der, Int(length), message, message.count) == 1
  }

  @Test("A window's token is signed once and shared")
  func mint() throws {
    let mint = TokenMint(key: try key())
    let first = try mint.token(at: Timestamp(epochSeconds: 1_700_000_100))
    #expect(try mint.token(at: Timestamp(epochSeconds: 1_700_000_900)) == first)
    #expect(try mint.token(at: Timestamp(epochSeconds: 1_700_001_000)) != first)
  }

  @Test(
    "Base64 for URLs",
    arguments: [
      ([], ""), ([0xfb], "-w"), ([0xff, 0xff], "__8"), ([0, 0, 0], "AAAA"),
      (Array("hello".utf8), "aGVsbG8"),
    ] as [([UInt8], String)])
  func base64(bytes: [UInt8], text: String) {
    #expect(String(decoding: base64URL(bytes), as: UTF8.self) == text)
  }
}
