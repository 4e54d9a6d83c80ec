import Testing

@testable import RideCore
@testable import Timeline

@Suite("Texts of two senders") struct PushTextTests {
  /// Title, subtitle and body, the old sender's text, and whether it is the same.
  @Test(
    arguments: [
      ("Here", nil, "Ana waits", "Ana waits", true),
      ("Here", nil, "Ana waits", "Here: Ana waits", true),
      ("Here", nil, "Ana waits", "Here\nAna waits", true),
      ("Here", nil, "Ana waits", "Here - Ana  waits ", true),
      ("Here.", nil, "Ana waits", "Here. Ana waits", true),
      ("Here", "now", "Ana", "Here now Ana", true),
      (nil, nil, "Ana waits", " Ana\twaits", true), ("Here", nil, nil, "Here", true),
      ("Here", nil, "Ana waits", "Here", false), ("Here", nil, "Ana waits", "Ana is here", false),
      ("Here", nil, "Ana waits", "Here: Ana waits!", false), ("Here", nil, "Ana waits", "", false),
      (nil, nil, "Cafe\u{301}", "Caf\u{e9}", true), ("Here", nil, "Ana", "HereAna", true),
    ] as [(String?, String?, String?, String, Bool)])
  func `a text is the body, or all parts`(
    title: String?, subtitle: String?, body: String?, old: String, isSame: Bool
  ) throws {
    let text = try #require(PushText(title: title, subtitle: subtitle, body: body))
    #expect(text.isSame(as: old) == isSame)
  }

  @Test func `a push without a text has none`() {
    #expect(PushText(title: nil, body: nil) == nil && PushText(title: "", body: "") == nil)
    #expect(PushText(title: "A", subtitle: "B", body: "C")?.text == "A: B: C")
  }
}
