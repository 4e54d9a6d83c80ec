import Testing

@testable import Base
@testable import RideCore

/// Locales and zones on which Foundation's own formatters end the process.
@Suite struct HostileLocaleTests {
  /// Monday 2026-06-01, 16:05 in Berlin.
  private static let time = Timestamp(epochSeconds: 1_780_322_700)

  private static let filters = [
    "time", "date", "weekday", "relative", "currency: 'EUR'", "plural: 'other=#'",
  ]

  private func shown(_ locale: String?, _ zone: String, _ filter: String) throws -> String {
    var ride = Ride(id: "r1", state: "driver_arrived")
    ride.timeZone = zone
    let number = filter.hasPrefix("c") || filter.hasPrefix("p") ? "1234.5" : "1780322700"
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: #"{"n":\#(number)}"#.utf8),
      event: RideEvent(id: 1, name: "driver_arrived", at: Self.time),
      now: Self.time - .seconds(160))
    let text = try TextTemplate("{{ride.attributes.n | \(filter)}}")
    let payload = CompiledPayload(
      .visible(LocalizedText([("en", text), ("ar", text)]) ?? LocalizedText(text)))
    let json = try payload.render(in: context, locale: locale)
    return try #require(JSONValue(json: json)).text
      .replacing("\u{202F}", with: " ").replacing("\u{A0}", with: " ")
  }

  @Test(
    arguments: [
      // A phone's numbering system is kept, also in the form of Apple's identifiers.
      ("en-US-u-nu-latn", "time", "4:05 PM"), ("ar-AE-u-nu-arab", "time", "\u{2068}٤:٠٥ م\u{2069}"),
      ("ar-AE-u-nu-arab", "plural: 'other=#'", "١٬٢٣٤٫٥"),
      ("en_US@numbers=arab", "time", "\u{2068}٤:٠٥ PM\u{2069}"),
      ("ar_EG@numbers=latn", "time", "\u{2068}4:05 م\u{2069}"),
      ("en-US-u-hc-h23-nu-latn", "time", "16:05"),
      ("en_US@hours=h23", "time", "16:05"), ("en-US-u-rg-gbzzzz", "time", "16:05"),
      ("en-US-u-ca-buddhist", "date", "Jun 1, 2569 BE"),
      // Of what is not known, the locale remains.
      ("en-US-u-nu", "relative", "in 3 minutes"), ("en-US-u-nu-xxxx", "relative", "in 3 minutes"),
      ("en-US-u-nu-traditional", "time", "4:05 PM"), ("en-US-u-nu-roman", "time", "4:05 PM"),
      ("en-US-u-ca-never", "date", "Jun 1, 2026"), ("en-US-x-u-nu-arab", "time", "4:05 PM"),
      ("en-US-t-de-u-nu-arab", "time", "\u{2068}٤:٠٥ PM\u{2069}"),
      ("en-US-u-nu-arab-nu-thai", "time", "\u{2068}٤:٠٥ PM\u{2069}"),
      ("he-IL-u-ca-hebrew-nu-hebr", "plural: 'other=#'", "1,234.5"),
    ])
  func `A2: what a locale's extensions change`(
    _ locale: String, _ filter: String, _ expected: String
  ) throws {
    let text = try shown(locale, "Europe/Berlin", filter)
    // Hebrew has no text here, so its words are English.
    #expect(text == expected)
  }

  /// Whether it is a name of the tz database, and what is shown.
  @Test(
    arguments: [
      ("ACT", "14:05"), ("NST", "14:05"), ("BST", "14:05"), ("GMT+18", "14:05"),
      ("GMT+5", "14:05"), ("US/Pacific-New", "14:05"), ("", "14:05"), ("Europe/Berlin ", "14:05"),
      ("../../etc/passwd", "14:05"), ("posixrules", "14:05"), ("europe/berlin", "14:05"),
      ("Europe/Berlin", "16:05"), ("EST5EDT", "10:05"), ("Etc/GMT-5", "19:05"),
      ("Asia/Kathmandu", "19:50"), ("Asia/Kolkata", "19:35"), ("UTC", "14:05"),
    ])
  func `A2: zones`(_ zone: String, _ expected: String) throws {
    #expect(try shown("de", zone, "time") == expected)
    #expect(try shown(nil, zone, "time") == expected)
    for filter in Self.filters { #expect(try !shown("en-US", zone, filter).isEmpty) }
  }

  @Test(
    arguments: [
      Int64.min, .max, 0, -1, -62_135_596_800, -62_135_596_801, 253_370_764_800,
      253_402_300_800, 64_092_211_200, 9_223_372_036_854, -9_223_372_036_854,
    ])
  func `A2: times far away`(_ seconds: Int64) {
    let time = Timestamp(epochSeconds: seconds)
    for locale in ["en-US", "ar-SA", "fa-IR", "th-TH", "ja-JP-u-ca-japanese", "zh-u-ca-chinese"] {
      let formats = LocaleFormats.of(locale)
      for zone in [ZoneTimes.utc, ZoneTimes(identifier: "Pacific/Kiritimati") ?? .utc] {
        let texts = [
          formats.time(time, in: zone), formats.date(time, in: zone),
          formats.weekday(time, in: zone), formats.relative(time, to: Self.time),
          formats.relative(Self.time, to: time), CivilTime.iso(time),
          CivilTime.time(time, in: zone),
          CivilTime.date(time, in: zone), time.description,
        ]
        #expect(!texts.contains(""), "\(texts)")
      }
    }
  }

  @Test(
    arguments: ["0", "-0.0", "1e127", "-9223372036854775808", "5e-120", "\"-0\"", "\"0.000\""])
  func `A2: numbers`(_ number: String) throws {
    let value = try #require(JSONValue(json: number.utf8)?.decimal)
    for locale in ["en-US", "ar-EG", "hi-IN-u-nu-deva", "xx-YY"] {
      let formats = LocaleFormats.of(locale)
      #expect(!formats.number(value).isEmpty && !formats.currency(value, "EUR").isEmpty)
      #expect(!formats.currency(value, "no currency").isEmpty)
    }
  }

  @Test(
    arguments: [
      ("pt_BR", "pt-BR"), ("zh_Hant_TW", "zh-Hant-TW"), ("en-US-POSIX", "en-US"),
      ("ar_AE@numbers=arab;calendar=gregorian", "ar-AE-u-nu-arab"),
      ("de-DE-u-co-phonebk-hc-h12", "de-DE-u-hc-h12"),
      ("ar-SA-u-ca-islamic-umalqura-nu-latn", "ar-SA-u-ca-islamic-umalqura-nu-latn"),
    ])
  func `A2: a locale is composed of known words`(_ text: String, _ expected: String) {
    #expect(FormatLocale(text)?.text == expected)
  }

  @Test func `A2: a time in UTC because the ride's zone is unknown is sent, and says so`() throws {
    func sent(_ zone: String, default standard: String? = nil) -> (String?, LedgerReason?) {
      var view = RideView(rideID: "r1", ride: Sample.ride())
      view.ride?.timeZone = zone
      view.ride?.pickupAt = Self.time
      view.phones = [Sample.phone(locale: "de-DE")]
      view.events = [Sample.event()]
      let rule = Sample.rule(body: "{{ride.pickup_at | time}}")
      let book = EngineConfiguration(
        rules: RuleSet(
          activeStates: ["driver_arrived"], finalStates: [], events: [], rules: [rule],
          defaults: RuleDefaults(zone: standard.flatMap(ZoneTimes.init(identifier:)))),
        bundleIDs: [.customer: "com.example.customer"])
      let decision = decide(view, by: book, now: Sample.now)
      let body = decision.pushes.first.flatMap {
        JSONValue(json: $0.payload)?.value(at: ["aps", "alert", "body"])?.text
      }
      let settled = decision.settled([.accepted], now: Sample.now, jitter: { 0 })
      return (body, settled.entries.first?.reason)
    }
    let (known, nothing) = sent("Europe/Berlin")
    #expect(known == "16:05" && nothing == nil)
    let (utc, reason) = sent("ACT")
    #expect(utc == "14:05" && reason?.code == .engine(.unknownTimeZone))
    #expect(reason?.text == "unknown time zone \"ACT\": times are in UTC")
    let (configured, other) = sent("ACT", default: "Asia/Tokyo")
    #expect(configured == "23:05")
    #expect(other?.text == "unknown time zone \"ACT\": times are in Asia/Tokyo")
  }
}
