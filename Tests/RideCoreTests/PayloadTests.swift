import Testing

@testable import Base
@testable import RideCore

/// Rendering of payloads.
@Suite struct PayloadTests {
  static func context(
    attributes: String =
      #"{"n":3,"x":1.5,"yes":true,"no":null,"text":"a","empty":"","o":{"k":[1]}}"#,
    data: String = "{}", zone: String = "Europe/Berlin"
  ) -> TemplateContext {
    var ride = Ride(id: "r1", state: "driver_arrived")
    ride.timeZone = zone
    ride.pickupAt = Timestamp(epochSeconds: 1_795_244_700)
    let event = RideEvent(
      id: 1, name: "driver_arrived", at: Timestamp(microseconds: 1_782_000_000_999_999), data: data)
    return TemplateContext(ride: ride, attributes: JSONValue(json: attributes.utf8), event: event)
  }

  private func rendered(
    _ template: PayloadTemplate, in context: TemplateContext, locale: String? = nil
  ) throws
    -> String
  {
    String(
      decoding: try CompiledPayload(template).render(in: context, locale: locale), as: UTF8.self)
  }

  @Test(arguments: [
    ("{{ride.attributes.n}}", "3"), ("{{ride.attributes.x}}", "1.5"),
    ("{{ride.attributes.yes}}", "true"), ("{{ride.attributes.o}}", #"{"k":[1]}"#),
    ("{{ride.attributes.text}}", #""a""#), ("n={{ride.attributes.n}}", #""n=3""#),
    ("{{ride.attributes.n}} ", #""3 ""#), ("{{ride.attributes.yes}}!", #""true!""#),
    ("{{ride.attributes.o}}!", #""{\"k\":[1]}!""#), ("", #""""#), ("a", #""a""#),
    ("{{ride.attributes.gone | default: 5}}", "5"),
    ("{{ride.attributes.no | default: 'x'}}", #""x""#),
    ("{{ride.attributes.empty | default: 'x'}}", #""x""#),
    ("{{ride.attributes.n | default: 'x'}}", "3"), ("{{ride.attributes.empty}}", #""""#),
    ("{{ride.customer_id | default: false}}", "false"),
    ("{{ride.attributes.gone | upper | default: 'x'}}", #""x""#),
    ("{{ride.attributes.gone | default: 'x' | upper}}", #""X""#),
    ("{{ride.state | upper}}", #""DRIVER_ARRIVED""#),
    ("{{ride.time_zone | lower}}", #""europe/berlin""#),
    ("{{ride.pickup_at}}", #""2026-11-21T07:05:00Z""#), ("{{ride.pickup_at | time}}", #""08:05""#),
    ("{{ride.pickup_at | date}}", #""2026-11-21""#), ("{{ride.pickup_at | epoch}}", "1795244700"),
    ("{{event.at | epoch}}", "1782000000"), ("{{event.at | time}}", #""02:00""#),
    ("{{ride.updated_at | time | default: 'soon'}}", #""soon""#),
    ("{{event.name}}", #""driver_arrived""#),
  ])
  func values(text: String, json: String) throws {
    #expect(try rendered(.value(TextTemplate(text)), in: Self.context()) == json)
  }

  @Test(arguments: [
    ("UTC", "1795215600", "23:00", "2026-11-20"),
    ("Europe/Berlin", "1795215600", "00:00", "2026-11-21"),
    ("America/New_York", "1795215600", "18:00", "2026-11-20"),
    ("Asia/Kathmandu", "1795215600", "04:45", "2026-11-21"),
    ("Europe/Berlin", "1781996400.9", "01:00", "2026-06-21"),
    ("Europe/Berlin", "\"2026-11-21T08:05:00+02:00\"", "07:05", "2026-11-21"),
    ("Europe/Berlin", "\"2026-11-21T08:05:00.25Z\"", "09:05", "2026-11-21"),
  ])
  func times(zone: String, value: String, time: String, date: String) throws {
    let context = Self.context(data: "{\"t\":\(value)}", zone: zone)
    #expect(
      try rendered(.value(TextTemplate("{{event.data.t | time}}")), in: context) == "\"\(time)\"")
    #expect(
      try rendered(.value(TextTemplate("{{event.data.t | date}}")), in: context) == "\"\(date)\"")
  }

  @Test(
    arguments: [
      ("{{ride.customer_id}}", .missing("ride.customer_id")),
      ("{{ride.attributes.no}}", .missing("ride.attributes.no")),
      ("a {{event.data.x}}", .missing("event.data.x")),
      ("{{ride.updated_at | time}}", .missing("ride.updated_at")),
      ("{{ride.attributes.text | time}}", .notATime("ride.attributes.text", .string("a"))),
      ("{{ride.attributes.yes | epoch}}", .notATime("ride.attributes.yes", .bool(true))),
    ] as [(String, RenderingError)])
  func failures(text: String, error: RenderingError) {
    #expect(throws: error) { try rendered(.value(TextTemplate(text)), in: Self.context()) }
  }

  @Test(arguments: [
    ("{{ride.attributes.no | default: null}}", "null"),
    ("{{event.data.x | default: null | upper}}", "null"),
    ("{{ride.attributes.no | default: null | epoch}}", "null"),
    ("{{ride.attributes.text | default: null}}", "\"a\""),
  ])
  func `R92: default: null gives JSON null`(text: String, json: String) throws {
    #expect(try rendered(.value(TextTemplate(text)), in: Self.context()) == json)
  }

  @Test func `R92: null is no word of a text`() throws {
    let text = try TextTemplate("at {{ride.attributes.no | default: null}}")
    #expect(throws: RenderingError.missing("ride.attributes.no")) {
      try rendered(.value(text), in: Self.context())
    }
    let alone = try TextTemplate("{{ride.attributes.no | default: null}}")
    #expect(throws: RenderingError.missing("ride.attributes.no")) {
      try rendered(.visible(LocalizedText(alone)), in: Self.context())
    }
  }

  @Test func whatTheRowsOfTheDatabaseCanGetWrong() throws {
    let time = try PayloadTemplate.value(TextTemplate("{{ride.pickup_at | time}}"))
    #expect(
      try rendered(time, in: Self.context(zone: "Mars/Base"))
        == rendered(time, in: Self.context(zone: "UTC")))
    let broken = Self.context(attributes: "{", data: "[")
    #expect(throws: RenderingError.unreadable("ride.attributes")) {
      try rendered(.value(TextTemplate("{{ride.attributes.n}}")), in: broken)
    }
    #expect(throws: RenderingError.unreadable("event.data")) {
      try rendered(.value(TextTemplate("{{event.data.n}}")), in: broken)
    }
    #expect(try rendered(.value(TextTemplate("{{ride.id}}")), in: broken) == #""r1""#)
  }

  @Test func textForPeopleIsTextAndNeverEmpty() throws {
    func visible(_ text: String) throws -> PayloadTemplate {
      .object(["title": .visible(LocalizedText(try TextTemplate(text)))])
    }
    #expect(try rendered(visible("{{ride.attributes.n}}"), in: Self.context()) == #"{"title":"3"}"#)
    for text in ["{{ride.attributes.empty}}", " {{ride.attributes.empty}} ", "", " \n"] {
      #expect(throws: RenderingError.emptyText("title")) {
        try rendered(visible(text), in: Self.context())
      }
    }
    #expect(RenderingError.emptyText("title").reason == "empty title")
    #expect(RenderingError.missing("ride.x").reason == "missing ride.x")
  }

  @Test func theTextOfThePhonesLocale() throws {
    let texts = LocalizedText([
      ("en", TextTemplate(literal: "Hi")), ("de", try TextTemplate("Hallo {{ride.id}}")),
    ])
    let template = PayloadTemplate.visible(try #require(texts))
    #expect(try rendered(template, in: Self.context(), locale: "de-DE") == #""Hallo r1""#)
    #expect(try rendered(template, in: Self.context()) == #""Hi""#)
    #expect(CompiledPayload(template).isLocalized)
    #expect(!CompiledPayload(.literal(.null)).isLocalized)
  }

  @Test func keysStandInOneOrder() throws {
    let template = PayloadTemplate.object([
      "b": .value(try TextTemplate("{{ride.id}}")),
      "a": .array([.literal(.integer(1)), .object([:])]),
      "aps": .literal(.bool(true)), "c\"\n": .array([]),
    ])
    #expect(
      try rendered(template, in: Self.context()) == #"{"a":[1,{}],"aps":true,"b":"r1","c\"\n":[]}"#)
  }

  @Test func whatJSONMustEscape() throws {
    let context = Self.context(attributes: #"{"t":"\"\\\n\t\u0001/é🚕\u2028"}"#)
    let expected = "\"\\\"\\\\\\n\\t\\u0001/é🚕\u{2028}\""
    #expect(try rendered(.value(TextTemplate("{{ride.attributes.t}}")), in: context) == expected)
    let literal = TextTemplate(literal: "\"\\\n\t\u{1}/é🚕\u{2028}")
    #expect(try rendered(.value(literal), in: context) == expected)
    #expect(try rendered(.visible(LocalizedText(literal)), in: context) == expected)
  }

  @Test(arguments: [("3", "3"), ("{{ride.attributes.n}}", "3")])
  func theBadgeIsANumber(text: String, json: String) throws {
    var alert = Alert()
    alert.title = LocalizedText(TextTemplate(literal: "x"))
    alert.badge = try TextTemplate(text)
    #expect(
      try rendered(alert.aps, in: Self.context()) == #"{"alert":{"title":"x"},"badge":"# + json
        + "}")
  }
}
