import Testing

@testable import Base
@testable import RideCore

/// Filters whose argument is a word, a zone or the path of a currency.
@Suite struct ValueFilterTests {
  private func shown(_ text: String, _ attributes: String, _ locale: String = "en-US") throws
    -> String
  {
    var ride = Ride(id: "r1", state: "driver_arrived")
    ride.timeZone = "Europe/Berlin"
    // Monday 2026-06-01, 23:05 in Berlin.
    ride.pickupAt = Timestamp(epochSeconds: 1_780_347_900)
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: attributes.utf8),
      event: RideEvent(id: 1, name: "e", at: Timestamp(epochSeconds: 1_780_347_000)))
    let payload = try CompiledPayload(
      .visible(LocalizedText(TextTemplate(text), isForPeople: true)))
    let json = try payload.render(in: context, locale: locale)
    return try #require(JSONValue(json: json)).text.replacing("\u{202F}", with: " ")
      .replacing("\u{A0}", with: " ")
  }

  @Test(
    arguments: [
      ("currency", "12.5", "EUR", "€12.50"), ("currency", "12.5", "gbp", "£12.50"),
      ("minor-currency", "1250", "EUR", "€12.50"), ("minor-currency", "1250", "JPY", "¥1,250"),
      ("minor-currency", "1250", "KWD", "KWD 1.250"), ("minor-currency", "-5", "USD", "-$0.05"),
    ])
  func `an amount has the currency of its path`(
    filter: String, fare: String, code: String, expected: String
  ) throws {
    let text = "{{ride.attributes.fare | \(filter): ride.attributes.code}}"
    #expect(try shown(text, #"{"fare":\#(fare),"code":"\#(code)"}"#) == expected)
  }

  @Test func `a code that is missing or not a currency suppresses the push`() {
    let text = "{{ride.attributes.fare | currency: ride.attributes.code}}"
    #expect(throws: RenderingError.missing("ride.attributes.code")) {
      try shown(text, #"{"fare":5}"#)
    }
    #expect(throws: RenderingError.notACurrency("ride.attributes.code", .string("EURO"))) {
      try shown(text, #"{"fare":5,"code":"EURO"}"#)
    }
  }

  @Test(
    arguments: [
      (#"{"why":"late"}"#, "It was late"), (#"{"why":"rain"}"#, "Cancelled"),
      (#"{"why":null}"#, "Tap"), ("{}", "Tap"), (#"{"why":2}"#, "Twice"),
    ])
  func `select gives the text of a word`(attributes: String, expected: String) throws {
    let text =
      "{{ride.attributes.why | select: 'late=It was late|2=Twice|other=Cancelled' "
      + "| default: 'Tap'}}"
    #expect(try shown(text, attributes) == expected)
  }

  @Test(
    arguments: [
      ("time", "11:05 PM"), ("time: 'Asia/Tokyo'", "6:05 AM"), ("weekday", "Monday"),
      ("weekday: 'Asia/Tokyo'", "Tuesday"), ("date: 'Asia/Tokyo'", "Jun 2, 2026"),
    ])
  func `a time is in the zone of its filter`(filter: String, expected: String) throws {
    #expect(try shown("{{ride.pickup_at | \(filter)}}", "{}") == expected)
  }

  @Test func `a time in a zone of its own shows none of the ride's`() throws {
    #expect(try TextTemplate("{{event.at | time: 'Asia/Tokyo'}}").clocks == [])
    #expect(try TextTemplate("{{event.at | time}}").clocks == [.ride])
  }
}
