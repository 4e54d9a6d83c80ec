import Testing

@testable import Base
@testable import RideCore

/// Times, numbers and words as a phone's locale has them.
@Suite struct FormatTests {
  /// Monday 2026-06-01, 16:05 in Berlin, 2 minutes and 40 s after now.
  private static let time = Timestamp(epochSeconds: 1_780_322_700)

  private static func context(_ attributes: String = "{}", now: Timestamp? = nil) -> TemplateContext
  {
    var ride = Ride(id: "r1", state: "driver_arrived")
    ride.timeZone = "Europe/Berlin"
    ride.pickupAt = time
    return TemplateContext(
      ride: ride, attributes: JSONValue(json: attributes.utf8),
      event: RideEvent(id: 1, name: "driver_arrived", at: time - .seconds(600)),
      now: now ?? time - .seconds(160))
  }

  /// Returns a text for people on a phone with this locale; ICU's special spaces become plain ones.
  private func shown(
    _ text: String, _ locale: String?, in context: TemplateContext = context(),
    of names: [String] = [""], default standard: String? = nil
  ) throws -> String {
    let template = try TextTemplate(text)
    let texts = LocalizedText(names.map { ($0, template) }) ?? LocalizedText(template)
    let payload = CompiledPayload(.visible(texts), defaultLocale: standard)
    let json = try payload.render(in: context, locale: locale)
    let value = try #require(JSONValue(json: json))
    return value.text.replacing("\u{202F}", with: " ").replacing("\u{A0}", with: " ")
  }

  @Test(
    arguments: [
      ("time", "en-US", "4:05 PM"), ("time", "en-GB", "16:05"), ("time", "de-DE", "16:05"),
      ("time", "fr-CA", "16:05"), ("time", "en-US-u-hc-h23", "16:05"), ("time", "ja-JP", "16:05"),
      ("time", "zh-Hant-TW", "下午4:05"), ("time", "ar-EG", "\u{2068}٤:٠٥ م\u{2069}"),
      ("time", nil, "16:05"),
      ("time", "garbage!", "16:05"), ("date", "en-US", "Jun 1, 2026"),
      ("date", "en-GB", "1 Jun 2026"),
      ("date", "de", "1. Juni 2026"), ("date", nil, "2026-06-01"), ("weekday", "en", "Monday"),
      ("weekday", "de-AT", "Montag"), ("weekday", "pt_BR", "segunda-feira"),
      ("weekday", nil, "Monday"),
      ("relative", "en", "in 3 minutes"), ("relative", "de", "in 3 Minuten"),
      ("relative", "pl", "za 3 minuty"), ("relative", nil, "in 3 minutes"),
    ] as [(String, String?, String)])
  func `R93: times by the phone's locale`(filter: String, locale: String?, expected: String) throws
  {
    #expect(try shown("{{ride.pickup_at | \(filter)}}", locale) == expected)
  }

  /// Foundation has no pattern for a locale that names its digits.
  @Test(arguments: ["en-CZ", "en-CZ-u-nu-latn", "en-JP-u-nu-latn"])
  func `a clock keeps CLDR's pattern next to digits`(locale: String) {
    let morning = Timestamp(epochSeconds: 8 * 3600 + 5 * 60)
    #expect(LocaleFormats.of(locale).time(morning, in: .utc) == "8:05")
  }

  @Test(
    arguments: [
      (0, "now"), (29, "now"), (-29, "now"), (30, "in 1 minute"), (89, "in 1 minute"),
      (90, "in 2 minutes"), (-180, "3 minutes ago"), (5400, "in 90 minutes"),
      (5969, "in 99 minutes"),
      (5970, "in 2 hours"), (86_400, "in 24 hours"), (36 * 3600, "in 2 days"),
      (-86_400 * 400, "400 days ago"), (253_000_000_000, "in 2928241 days"),
    ] as [(Int64, String)])
  func `R93: relative counts from the time of the decision`(seconds: Int64, expected: String) throws
  {
    let context = Self.context(now: Self.time - .seconds(seconds))
    let text = try shown("{{ride.pickup_at | relative}}", "en-US", in: context)
    #expect(text.replacing(",", with: "") == expected)
  }

  @Test(
    arguments: [
      ("12.5", "EUR", "en-US", "€12.50"), ("12.5", "EUR", "de-DE", "12,50 €"),
      ("\"12.50\"", "EUR", "de", "12,50 €"), ("0.1", "EUR", "en-GB", "€0.10"),
      ("1234.5", "EUR", "fr", "1 234,50 €"), ("1234.5", "JPY", "ja", "¥1,235"),
      ("2.345", "USD", "en-US", "$2.35"), ("-3", "USD", "en-US", "-$3.00"),
      // As doubles, these are less than a half.
      ("1.005", "USD", "en-US", "$1.01"), ("0.285", "USD", "en-US", "$0.29"),
      ("9007199254740993", "USD", "en-US", "$9,007,199,254,740,993.00"),
    ])
  func `R93: amounts`(value: String, code: String, locale: String, expected: String) throws {
    let text = try shown(
      "{{ride.attributes.fare | currency: '\(code)'}}", locale,
      in: Self.context(#"{"fare":\#(value)}"#))
    #expect(text == expected)
  }

  @Test(
    arguments: [
      ("1", "en", "1 driver"), ("2", "en", "2 drivers"), ("1.5", "en", "1.5 drivers"),
      ("\"1\"", "en", "1 driver"), ("0", "en", "0 drivers"), ("0", "fr", "0 driver"),
      ("1200", "en", "1,200 drivers"), ("1200", "de", "1.200 drivers"),
      ("20.0", "en", "20 drivers"),
      ("1", nil, "1 driver"),
    ] as [(String, String?, String)])
  func `R93: plural`(value: String, locale: String?, expected: String) throws {
    let text = "{{ride.attributes.n | plural: 'one=# driver|other=# drivers'}}"
    #expect(try shown(text, locale, in: Self.context(#"{"n":\#(value)}"#)) == expected)
  }

  @Test(
    arguments: [
      ("4.7", "4"), ("-4.7", "-4"), ("\"20.0\"", "20"), ("7", "7"),
      ("\"9223372036854775807\"", "9223372036854775807"),
    ])
  func `int is the whole part`(value: String, expected: String) throws {
    let template = try PayloadTemplate.value(TextTemplate("{{ride.attributes.n | int}}"))
    let json = try CompiledPayload(template).render(
      in: Self.context(#"{"n":\#(value)}"#), locale: nil)
    #expect(String(decoding: json, as: UTF8.self) == expected)
  }

  @Test(arguments: ["int", "currency: 'EUR'", "plural: 'other=#'"])
  func `R91: what is not a number suppresses the push`(filter: String) throws {
    let context = Self.context(#"{"n":"soon","yes":true,"big":1e300,"none":null}"#)
    let text = try TextTemplate("{{ride.attributes.n | \(filter)}}")
    let error = #expect(throws: RenderingError.self) { try context.text(of: text) }
    #expect(error == .notANumber("ride.attributes.n", .string("soon")))
    #expect(error?.reason == "ride.attributes.n \"soon\" is not a number")
    #expect(error?.ledgerReason.code == .engine(.notANumber))
    #expect(throws: RenderingError.self) {
      try context.text(of: TextTemplate("{{ride.attributes.yes | \(filter)}}"))
    }
    #expect(throws: RenderingError.missing("ride.attributes.none")) {
      try context.text(of: TextTemplate("{{ride.attributes.none | \(filter)}}"))
    }
    // A number that other words follow is not read up to them.
    for words in ["12 EUR", "12,50", "1e3", " 12", ""] {
      #expect(throws: RenderingError.notANumber("ride.attributes.n", .string(words))) {
        try Self.context(#"{"n":"\#(words)"}"#).text(of: text)
      }
    }
  }

  /// Words are in the language of the text, clock and separators those of the phone's region.
  @Test(
    arguments: [
      ("fr-FR", ["en", "de"], nil, "Monday 16:05"), ("fr-CH", ["en"], nil, "Monday 16:05"),
      ("en-US", ["de"], nil, "Montag 4:05 PM"), ("de-DE", ["en", "de"], nil, "Montag 16:05"),
      (nil, ["en", "de"], nil, "Monday 16:05"), (nil, ["de"], nil, "Montag 16:05"),
      (nil, ["en", "de"], "en-US", "Monday 4:05 PM"), (nil, [""], "de", "Montag 16:05"),
      (nil, [""], "en-US", "Monday 4:05 PM"), ("fr-FR", ["en"], "en-US", "Monday 16:05"),
      ("fr-FR", [""], "en-US", "lundi 16:05"), ("de", ["en"], nil, "Monday 16:05"),
      ("fr-FR", ["default"], nil, "lundi 16:05"), (nil, ["default"], nil, "Monday 16:05"),
    ] as [(String?, [String], String?, String)])
  func `R93: a text in another language than the phone's`(
    locale: String?, names: [String], standard: String?, expected: String
  ) throws {
    let text = "{{ride.pickup_at | weekday}} {{ride.pickup_at | time}}"
    #expect(try shown(text, locale, of: names, default: standard) == expected)
  }

  @Test(arguments: [nil, "en-US", "ar-EG"])
  func `R93: what a program reads never varies`(locale: String?) throws {
    let text = try TextTemplate(
      "{{ride.pickup_at | time}} {{ride.pickup_at | date}} {{ride.pickup_at | weekday}}")
    for template in [PayloadTemplate.value(text), .visible(LocalizedText(text))] {
      let payload = CompiledPayload(template)
      #expect(!payload.isLocalized)
      let json = try payload.render(in: Self.context(), locale: locale)
      #expect(String(decoding: json, as: UTF8.self) == #""16:05 2026-06-01 Monday""#)
    }
  }

  @Test func `R93: the texts of an alert and the arguments of the app's texts are for people`()
    throws
  {
    var alert = Alert()
    let time = Sample.text("{{ride.pickup_at | time}}")
    alert.title = LocalizedText(time)
    alert.bodyKey = Alert.LocalizedKey(key: TextTemplate(literal: "K"), arguments: [time])
    alert.threadID = time
    let payload = CompiledPayload(alert.aps)
    #expect(payload.isLocalized)
    let json = try payload.render(in: Self.context(), locale: "en-US")
    let aps = try #require(JSONValue(json: json))
    func text(_ path: String...) -> String? {
      aps.value(at: path)?.text.replacing("\u{202F}", with: " ")
    }
    #expect(text("alert", "title") == "4:05 PM")
    #expect(text("alert", "loc-args") == #"["4:05 PM"]"#)
    #expect(text("thread-id") == "16:05")
  }

  @Test func `R93: a decision writes for each phone`() throws {
    let phones = [
      Sample.phone(locale: "en-US"), Sample.phone(2, token: Sample.driverToken, locale: "de-DE"),
    ]
    var view = RideView(rideID: "r1", ride: Sample.ride())
    view.ride?.pickupAt = Sample.now + .seconds(600)
    view.phones = phones
    view.events = [Sample.event()]
    let rule = Sample.rule(body: "{{ride.pickup_at | relative}}")
    let pushes = decide(view, by: Sample.book([rule]), now: Sample.now).pushes
    let bodies = pushes.map {
      JSONValue(json: $0.payload)?.value(at: ["aps", "alert", "body"])?.text
    }
    #expect(bodies == ["in 10 minutes", "in 10 Minuten"])
  }
}
