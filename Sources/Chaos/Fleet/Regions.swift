import Base
import RideCore

/// The locales of phones and the time zones of rides.
struct Regions: Sendable {
  private let locales: [String?]
  private let zones: [String]

  func locale(using numbers: inout SeededGenerator) -> String? {
    locales.randomElement(using: &numbers) ?? nil
  }

  func zone(using numbers: inout SeededGenerator) -> String {
    zones.randomElement(using: &numbers) ?? "UTC"
  }

  static let usual = Regions(locales: [nil], zones: ["UTC"])

  /// Those that a phone may send and Postgres accepts, with extensions, old names and mistakes.
  static let unusual = Regions(
    locales: [
      nil, "de-AT", "en-US-u-nu-latn", "ar-AE-u-nu-arab", "th-TH-u-ca-buddhist-nu-thai",
      "en-US-u-hc-h23", "fa-IR-u-ca-persian", "zh_Hant_TW", "x-private", "en-US-POSIX", "i-klingon",
      "en-u-nu-hanidays-ca-chinese", "@calendar=japanese", "-", "\u{1F696}", "und-u-va-posix",
    ],
    zones: [
      "UTC", "Europe/Vienna", "ACT", "NST", "GMT+18", "US/Pacific-New", "Etc/GMT-14",
      "posix/EST5EDT", "Asia/Kathmandu", "Nowhere/Atall", "", "+25:00",
      "America/Argentina/ComodRivadavia",
    ])
}
