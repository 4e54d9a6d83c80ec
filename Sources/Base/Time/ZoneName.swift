/// The names of time zones: those of the tz database.
///
/// Foundation, ICU and Postgres also read abbreviations and offsets, each in its own way: `BST` is
/// London's summer or Bangladesh, and `GMT+5` is east of Greenwich or west of it.
package enum ZoneName {
  /// Returns whether a name has the form of one in the tz database.
  static func isValid(_ name: String) -> Bool {
    guard (1...64).contains(name.utf8.count),
      name.utf8.allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"),
          UInt8(ascii: "-"), UInt8(ascii: "+"):
          true
        default: false
        }
      })
    else { return false }
    return name.contains("/") ? !foreign.contains(name) : withoutRegion.contains(name)
  }

  /// The names of the tz database that have no slash.
  private static let withoutRegion: Set<String> = [
    "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT",
    "GMT+0", "GMT-0", "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel",
    "Jamaica", "Japan", "Kwajalein", "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo",
    "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey", "UCT", "UTC",
    "Universal", "W-SU", "WET", "Zulu",
  ]

  /// Names that ICU alone still has.
  private static let foreign: Set<String> = [
    "Canada/East-Saskatchewan", "Etc/Unknown", "US/Pacific-New",
  ]

  /// What a message expects.
  package static let expected = "a name of the tz database such as Europe/Berlin"
}
