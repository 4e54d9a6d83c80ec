import Testing

@testable import Base
@testable import RideCore

/// Parsing of texts with placeholders.
@Suite struct TextTemplateTests {
  private static func sole(_ source: Placeholder.Source, _ path: String, _ filters: Filter...)
    -> [TextTemplate.Segment]
  {
    [.placeholder(Placeholder(source: source, filters: filters, path: path))]
  }

  @Test(
    arguments: [
      ("", []),
      ("plain", [.literal("plain")]),
      ("one { brace }", [.literal("one { brace }")]),
      ("}} alone", [.literal("}} alone")]),
      ("{{ride.id}}", sole(.ride(.id), "ride.id")),
      ("{{  ride.id  }}", sole(.ride(.id), "ride.id")),
      ("{{ride.customer_id}}", sole(.ride(.customerID), "ride.customer_id")),
      ("{{ride.attributes}}", sole(.attributes([]), "ride.attributes")),
      (
        "{{ride.attributes.a.b-c.0}}",
        sole(.attributes(["a", "b-c", "0"]), "ride.attributes.a.b-c.0")
      ),
      ("{{ride.attributes.größe}}", sole(.attributes(["größe"]), "ride.attributes.größe")),
      ("{{event.name}}", sole(.eventName, "event.name")),
      ("{{event.at}}", sole(.eventTime, "event.at")),
      ("{{event.data.x}}", sole(.eventData(["x"]), "event.data.x")),
      ("{{event.at|time}}", sole(.eventTime, "event.at", .time)),
      ("{{event.at | date | upper}}", sole(.eventTime, "event.at", .date, .upper)),
      (
        "{{ride.id | default: 'a | b }}'}}",
        sole(.ride(.id), "ride.id", .fallback(.string("a | b }}")))
      ),
      ("{{ride.id|default:\"it's\"}}", sole(.ride(.id), "ride.id", .fallback(.string("it's")))),
      ("{{ride.id | default: ''}}", sole(.ride(.id), "ride.id", .fallback(.string("")))),
      ("{{ride.id | default: 5}}", sole(.ride(.id), "ride.id", .fallback(.integer(5)))),
      ("{{ride.id | default: -1.5}}", sole(.ride(.id), "ride.id", .fallback(.number(-1.5)))),
      ("{{ride.id | default: true}}", sole(.ride(.id), "ride.id", .fallback(.bool(true)))),
      (
        "a {{ride.id}}{{ride.state}} b",
        [.literal("a ")] + sole(.ride(.id), "ride.id") + sole(.ride(.state), "ride.state")
          + [.literal(" b")]
      ),
    ] as [(String, [TextTemplate.Segment])])
  func read(text: String, segments: [TextTemplate.Segment]) throws {
    #expect(try TextTemplate(text).segments == segments)
  }

  struct Mistake: Sendable {
    let text: String
    let offset: Int
    let found: String
    let expected: String
    var nearest: String?
  }

  private static let path = "a path such as ride.attributes.plate"
  private static let end = "a filter after | or the closing }}"
  private static let filter =
    "one of the filters currency, date, default, epoch, int, lower, minor-currency, plural, "
    + "relative, select, time, upper, weekday"
  private static let code =
    "a currency code in quotes, such as 'EUR', or a path such as ride.attributes.currency"
  private static let zone = "phone, or a time zone in quotes, such as 'Europe/Vienna'"
  private static let value = "a text in quotes, a number, true, false or null"

  @Test(arguments: [
    Mistake(text: "{{}}", offset: 2, found: "}}", expected: path),
    Mistake(text: "{{", offset: 2, found: "the end of the text", expected: path),
    Mistake(text: "{{{ride.id}}}", offset: 2, found: "{ride.id}}}", expected: path),
    Mistake(text: "ab {{ id }}", offset: 6, found: "id", expected: path),
    Mistake(text: "{{ride}}", offset: 2, found: "ride", expected: path, nearest: nil),
    Mistake(
      text: "{{ride.stat}}", offset: 2, found: "ride.stat", expected: path, nearest: "ride.state"),
    Mistake(
      text: "{{ride.driverid}}", offset: 2, found: "ride.driverid", expected: path,
      nearest: "ride.driver_id"),
    Mistake(
      text: "{{ride.plate}}", offset: 2, found: "ride.plate", expected: path,
      nearest: "ride.attributes.plate"),
    Mistake(
      text: "{{event.eta}}", offset: 2, found: "event.eta", expected: path,
      nearest: "event.data.eta"),
    Mistake(
      text: "{{event.nam}}", offset: 2, found: "event.nam", expected: path, nearest: "event.name"),
    Mistake(
      text: "{{rid.state}}", offset: 2, found: "rid.state", expected: path, nearest: "ride.state"),
    Mistake(
      text: "{{ride.attributes.}}", offset: 2, found: "ride.attributes.", expected: path,
      nearest: "ride.attributes"),
    Mistake(
      text: "{{ride.id.x}}", offset: 2, found: "ride.id.x", expected: path,
      nearest: "ride.attributes.id.x"),
    Mistake(text: "{{ride.id", offset: 9, found: "the end of the text", expected: end),
    Mistake(text: "{{ride.id}", offset: 9, found: "}", expected: end),
    Mistake(text: "{{ride.id x}}", offset: 10, found: "x}}", expected: end),
    Mistake(text: "{{ride.id | tme}}", offset: 12, found: "tme", expected: filter, nearest: "time"),
    Mistake(text: "{{ride.id | }}", offset: 12, found: "}}", expected: filter),
    Mistake(
      text: "{{ride.id | default}}", offset: 19, found: "}}",
      expected: "a colon and a value after default"),
    Mistake(text: "{{ride.id | default: }}", offset: 21, found: "}}", expected: value),
    Mistake(text: "{{ride.id | default: you}}", offset: 21, found: "you", expected: value),
    Mistake(
      text: "{{ride.id | default: 'x}}", offset: 21, found: "an open quote",
      expected: "the same quote at the end"),
    Mistake(text: "{{ride.id | currency: 5}}", offset: 22, found: "5", expected: code),
    Mistake(
      text: "{{ride.id | minor-currency: ride.curency}}", offset: 28, found: "ride.curency",
      expected: code, nearest: "ride.attributes.curency"),
    Mistake(
      text: "{{event.at | time: 'Europe/Wien'}}", offset: 19, found: "Europe/Wien", expected: zone),
    Mistake(text: "{{event.at | date: 5}}", offset: 19, found: "5", expected: zone),
    Mistake(
      text: "{{ride.id | select: 'a=A'}}", offset: 20, found: "a=A",
      expected: "a text for other: words without a text of their own take it"),
    Mistake(
      text: "{{ride.id | select: 'a=A|a=B|other=C'}}", offset: 20, found: "a for the second time",
      expected: "each form once"),
    Mistake(
      text: "{{ride.id | select: 'a|other=C'}}", offset: 20, found: "a",
      expected: "texts by word in quotes, such as 'late=The driver was late|other=Cancelled'"),
    Mistake(text: "é👩‍👧 {{x}}", offset: 5, found: "x", expected: path),
  ])
  func refused(mistake: Mistake) {
    let error = #expect(throws: TemplateError.self) { try TextTemplate(mistake.text) }
    #expect(error?.offset == mistake.offset)
    #expect(error?.found == mistake.found)
    #expect(error?.expected == mistake.expected)
    #expect(error?.nearest == mistake.nearest)
  }

  @Test func whatATemplateIs() throws {
    #expect(try TextTemplate("{{ride.id}}").solePlaceholder?.path == "ride.id")
    #expect(try TextTemplate(" {{ride.id}}").solePlaceholder == nil)
    #expect(try TextTemplate("a").literalText == "a")
    #expect(try TextTemplate("").literalText == "")
    #expect(try TextTemplate("{{ride.id}}").literalText == nil)
    #expect(try TextTemplate("{{ride.id}} {{ride.state}}").placeholders.count == 2)
    #expect(TextTemplate(literal: "{{ride.id}}").literalText == "{{ride.id}}")
  }
}
