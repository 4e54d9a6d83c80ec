import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// Values between isolates in texts of another direction.
@Suite struct TextDirectionTests {
  private func rendered(
    _ text: PayloadTemplate, _ attributes: [String: JSONValue], _ locale: String?
  ) throws -> String {
    let context = TemplateContext(
      ride: Ride(id: "r1", state: "driver_arrived"), attributes: .object(attributes),
      event: RideEvent(id: 1, name: "e", at: Timestamp(epochSeconds: 1_780_347_000)))
    let json = try CompiledPayload(text).render(in: context, locale: locale)
    return try #require(JSONValue(json: json)).text
  }

  private func shown(_ text: String, _ locale: String, value: String) throws -> String {
    let texts = try #require(LocalizedText([(locale, TextTemplate(text))]))
    return try rendered(.visible(texts), ["x": .string(value)], locale)
  }

  @Test(
    arguments: [
      (
        "ar", "السيارة: {{ride.attributes.x}}", "7341 XYZ 2",
        "السيارة: \u{2068}7341 XYZ 2\u{2069}"
      ),
      ("he", "{{ride.attributes.x}}", "12 Canal Street", "\u{2068}12 Canal Street\u{2069}"),
      ("ar", "{{ride.attributes.x}}: a", "شارع", "\u{2068}شارع\u{2069}: a"),
      ("en", "At {{ride.attributes.x}}", "12 Canal Street", "At 12 Canal Street"),
      ("en", "At {{ride.attributes.x}}!", "שדרות 5", "At \u{2068}שדרות 5\u{2069}!"),
      ("en", "At {{ride.attributes.x}}", "京都 – Größe", "At 京都 – Größe"),
      // Without a locale, the first letter decides.
      ("default", "At {{ride.attributes.x}}", "7341 XYZ 2", "At 7341 XYZ 2"),
      ("default", "5 في {{ride.attributes.x}}", "Gate B", "5 في \u{2068}Gate B\u{2069}"),
      // Words that the text itself has are no value.
      (
        "ar", "{{ride.attributes.x}}{{ride.attributes.x | select: 'a=: نعم|other=: لا'}}", "a",
        "\u{2068}a\u{2069}: نعم"
      ),
      // A control in a value would reverse what follows.
      ("en", "At {{ride.attributes.x}}!", "a\u{202E}b", "At \u{2068}ab\u{2069}!"),
      ("ar", "{{ride.attributes.x}}", "\u{2068}a", "\u{2068}a\u{2069}"),
    ])
  func `a value of another direction is isolated`(
    locale: String, text: String, value: String, expected: String
  ) throws {
    #expect(try shown(text, locale, value: value) == expected)
  }

  @Test func `a blank value leaves the text empty`() {
    #expect(throws: RenderingError.self) {
      try shown("{{ride.attributes.x}}", "ar", value: " \u{2068}\u{2069}")
    }
  }

  @Test func `data for programs has no isolates`() throws {
    let text = try PayloadTemplate.value(TextTemplate("شارع {{ride.attributes.x}}"))
    #expect(try rendered(text, ["x": .string("Gate B")], "ar") == "شارع Gate B")
  }

  @Test func `isolates are balanced, and none is within a value`() {
    let pool: [Unicode.Scalar] = [
      "a", "5", " ", "ع", "ש", "é", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}", "\u{202A}",
      "\u{202E}", "\u{202C}", "\u{200F}", "😀",
    ]
    var random = SeededGenerator(seed: TestSeed.value(1))
    for _ in 0..<3000 {
      var value = ""
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        if let scalar = pool.randomElement(using: &random) { value.unicodeScalars.append(scalar) }
      }
      for direction in [TextDirection.leftToRight, .rightToLeft] {
        var text = ""
        direction.append(value, to: &text)
        let controls = text.unicodeScalars.filter { "\u{2066}"..."\u{2069}" ~= $0 }
        #expect(
          controls.isEmpty || Array(controls) == ["\u{2068}", "\u{2069}"],
          "\(value.debugDescription)")
        #expect(!text.unicodeScalars.contains { "\u{202A}"..."\u{202E}" ~= $0 })
      }
    }
  }
}
