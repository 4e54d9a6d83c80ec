import Base

/// Reads the times of logs: ISO 8601, also as databases print it, and seconds, milliseconds or
/// microseconds since 1970.
enum LogTime {
  enum Failure: Error, Hashable { case noTime, noZone }

  /// - Parameter zone: That of a time that states none.
  static func instant(_ text: String, _ zone: ZoneTimes?) throws(Failure) -> Timestamp {
    if let time = epoch(text) { return time }
    let iso = isoForm(Array(text.utf8))
    if let time = CivilTime.instant(iso: iso) { return time }
    guard let wall = CivilTime.instant(iso: iso + [UInt8(ascii: "Z")]) else {
      throw .noTime
    }
    guard let zone else { throw .noZone }
    // The offset at the wall clock's digits is that of hours before or after, the second one is right.
    let guess = wall - .seconds(zone.offset(at: wall))
    return wall - .seconds(zone.offset(at: guess))
  }

  /// Digits alone, with or without a fraction: by their number, seconds end in 5138.
  private static func epoch(_ text: String) -> Timestamp? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, !whole.isEmpty, whole.utf8.allSatisfy(isDigit),
      let number = Int64(whole)
    else { return nil }
    let digits = parts.count > 1 ? parts[1] : ""
    guard parts.count == 1 || !digits.isEmpty, digits.utf8.allSatisfy(isDigit) else { return nil }
    let unit: Int64
    switch whole.utf8.count {
    case ...11: unit = 1_000_000
    case 12...14: unit = 1000
    case 15...17: unit = 1
    default: return nil
    }
    let fraction = Int64(String((digits + "000000").prefix(6))) ?? 0
    let time = Timestamp(microseconds: number * unit + fraction * unit / 1_000_000)
    return CivilTime.seconds.contains(time.epochSeconds) ? time : nil
  }

  /// Turns `2026-11-27 08:15:00,5 +0100` into `2026-11-27T08:15:00.5+0100`.
  private static func isoForm(_ text: [UInt8]) -> [UInt8] {
    var text = text
    if text.count > 10, text[10] == UInt8(ascii: " ") { text[10] = UInt8(ascii: "T") }
    if text.count > 19, text[19] == UInt8(ascii: ",") { text[19] = UInt8(ascii: ".") }
    if text.suffix(4).elementsEqual(" UTC".utf8) {
      return text.dropLast(4) + [UInt8(ascii: "Z")]
    }
    text.removeAll { $0 == UInt8(ascii: " ") }
    // Postgres prints an offset of whole hours without minutes.
    if text.count > 19, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(text[text.count - 3]) {
      text += Array(":00".utf8)
    }
    return text
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
