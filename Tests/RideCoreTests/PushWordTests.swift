import Testing

@testable import Base
@testable import RideCore

/// The identifiers of a push: its ID, the phone's token and the collapse ID.
@Suite struct PushWordTests {
  /// The expected texts were computed by another program that implements FNV-1a as its authors
  /// define it.
  @Test(arguments: [
    (PushID(of: "ride-7", "driver-arrived", "42"), "67108299-071b-8211-b182-aef316de5d8e"),
    (PushID(of: ""), "d228cb68-f51a-8caf-b891-2b704e49f346"),
    (PushID(of: "é🚕"), "9857ee2b-bf4f-878b-841c-20549ed0a386"),
  ])
  func idsAreTheSameForEver(id: PushID, text: String) {
    #expect(id.description == text)
    #expect(PushID(text) == id)
    #expect(PushID(text.uppercased()) == id)
  }

  @Test func everyIDIsAVersion8UUID() {
    for number in 0..<1_000 {
      let text = Array(PushID(of: "ride", String(number)).description)
      #expect(text.count == 36)
      #expect(text[14] == "8")
      #expect("89ab".contains(text[19]))
    }
  }

  @Test func otherPartsGiveAnotherID() {
    let ids = [
      PushID(of: "ab", "c"), PushID(of: "a", "bc"), PushID(of: "abc"), PushID(of: "abc", ""),
      PushID(of: "", "abc"), PushID(of: "ab", "c", ""), PushID(of: "c", "ab"),
    ]
    #expect(Set(ids).count == ids.count)
    #expect(Set((0..<10_000).map { PushID(of: "ride", String($0)) }).count == 10_000)
  }

  @Test(arguments: [
    "", "f6ad91a780b48c2ca0dae29a6c87dd0f", "f6ad91a7-80b4-8c2c-a0da-e29a6c87dd0",
    "f6ad91a7-80b4-8c2c-a0da-e29a6c87dd0f0", "f6ad91a7-80b4-8c2c-a0dae-29a6c87dd0f",
    "g6ad91a7-80b4-8c2c-a0da-e29a6c87dd0f", "{6ad91a7-80b4-8c2c-a0da-e29a6c87dd0}",
    " f6ad91a7-80b4-8c2c-a0da-e29a6c87dd0", "٥6ad91a7-80b4-8c2c-a0da-e29a6c87dd0",
  ])
  func whatIsNoID(text: String) {
    #expect(PushID(text) == nil)
  }

  @Test(
    arguments: [
      ("00fc13adff785122", "00fc13adff785122"), ("00FC13ADFF785122", "00fc13adff785122"),
      ("ab", "ab"), ("", nil), ("a", nil), ("abc", nil), ("0g", nil), ("a b ", nil), ("٠٠", nil),
      (String(repeating: "a", count: 512), String(repeating: "a", count: 512)),
      (String(repeating: "a", count: 514), nil),
    ] as [(String, String?)])
  func tokens(text: String, hex: String?) {
    #expect(DeviceToken(text)?.hex == hex)
  }

  @Test func aTokenIsNotShown() throws {
    let token = try #require(
      DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"))
    #expect("\(token)" == "…1de8f0")
    #expect(token.suffix == "1de8f0")
  }

  @Test(
    arguments: [
      ("a", true), ("ride-7", true), (String(repeating: "a", count: 64), true),
      (String(repeating: "é", count: 32), true), ("", false),
      (String(repeating: "a", count: 65), false), (String(repeating: "é", count: 33), false),
      ("a\nb", false), ("a\u{7f}", false), ("a\u{0}", false),
    ])
  func collapseIDs(text: String, isOne: Bool) {
    #expect((CollapseID(text) != nil) == isOne)
  }

  @Test func anExpirationIsNeverMistakenForNeverStore() {
    #expect(PushExpiration.neverStore.epochSeconds == 0)
    #expect(PushExpiration.at(Timestamp(epochSeconds: 0)).epochSeconds == 1)
    #expect(PushExpiration.at(Timestamp(epochSeconds: 1_795_248_300)).epochSeconds == 1_795_248_300)
  }
}
