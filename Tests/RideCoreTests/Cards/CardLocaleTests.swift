import Testing

@testable import Base
@testable import RideCore

/// The language of a card: a card's row names no locale, so it is that of the owner's phone.
@Suite struct CardLocaleTests {
  /// The locales of the owner's phones, which one has the card's installation, and the language.
  @Test(
    arguments: [
      (["de-AT"], nil, "Tor"), (["en-US"], nil, "Gate"), ([nil], nil, "Gate"),
      (["en", "de"], 1, "Tor"), (["de", "en"], 1, "Gate"), (["de", "de"], nil, "Tor"),
      // Nobody knows which of the two phones shows it.
      (["de", "en"], nil, "Gate"), (["en", "de"], nil, "Gate"), ([], nil, "Gate"),
    ] as [([String?], Int?, String)])
  func `R93: content, data and custom keys`(
    locales: [String?], installation: Int?, expected: String
  ) throws {
    var stage = CardStage()
    let texts = try #require(
      LocalizedText([("en", Sample.text("Gate")), ("de", Sample.text("Tor"))]))
    stage.life.contentState["place"] = .field(.visible(texts), CardField(.string))
    stage.data["note"] = .visible(texts)
    stage.phones = locales.enumerated().map { index, locale in
      var phone = Sample.phone(Int64(index + 1), token: "\(index)a", locale: locale)
      phone.installationID = InstallationID("i\(index)")
      return phone
    }
    stage.register()
    stage.cards[0].installationID = installation.map { InstallationID("i\($0)") }
    stage.run()
    let arrival = try #require(stage.wire.first)
    #expect(arrival.aps.value(at: ["content-state", "place"]) == .string(expected))
    let payload = JSONValue(json: arrival.push.payload)
    #expect(payload?.value(at: ["note"]) == .string(expected))
  }
}
