import Testing

@testable import APNSSimulator

@Suite struct Base64URLTests {
  @Test(arguments: [("", []), ("AA", [0]), ("AQID", [1, 2, 3]), ("-_8", [0xFB, 0xFF])])
  func `text is decoded`(text: String, bytes: [UInt8]) {
    #expect(Base64URL.decode(text[...]) == bytes)
  }

  @Test(arguments: ["A", "AA==", "A+", "A/", "AB", "A A", "AAAAA"])
  func `other text is refused`(text: String) {
    #expect(Base64URL.decode(text[...]) == nil)
  }
}
