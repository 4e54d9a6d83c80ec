import Base
import Testing

@testable import RideCore

/// Signatures of Standard Webhooks.
@Suite struct WebhookSignerTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let other = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
  private static let body = Array(#"{"test": 2432232314}"#.utf8)

  private func signatures(_ secrets: String) throws -> [Substring] {
    let signer = try #require(WebhookSigner(secrets: secrets))
    let headers = signer.headers(
      id: PushID(of: "x"), at: Timestamp(epochSeconds: 1_614_265_330), body: Self.body)
    #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
    #expect(headers[0].value == PushID(of: "x").description)
    #expect(headers[1].value == "1614265330")
    return headers[2].value.split(separator: " ")
  }

  @Test func `a code of RFC 4231`() {
    let code = HMAC(key: Array("Jefe".utf8)).code(Array("what do ya want for nothing?".utf8))
    #expect(
      SHA256.hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func `two secrets sign twice, each as it does alone`() throws {
    let (one, two) = (try signatures(Self.secret), try signatures(Self.other))
    #expect(one.count == 1 && one != two && one.allSatisfy { $0.hasPrefix("v1,") })
    #expect(try signatures("\(Self.secret), \(Self.other)") == one + two)
  }

  @Test(arguments: [
    "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_AAAA", "whsec_!!!!",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,",
  ])
  func `anything else is no secret`(_ text: String) {
    #expect(WebhookSigner(secrets: text) == nil)
  }
}
