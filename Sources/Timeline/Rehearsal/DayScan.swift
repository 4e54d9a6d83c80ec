import Base
import RideCore

/// Finds the time and the ride of a line without parsing it, in the form in which days are written.
///
/// Each core reads the whole day, and parses only the lines about its own rides.
struct DayScan {
  let at: Timestamp
  /// The bytes of the ride's ID.
  let ride: ArraySlice<UInt8>

  private static let start = Array(#"{"at":""#.utf8)
  private static let event = Array(#","event":""#.utf8)
  private static let eventRide = Array(#","ride":""#.utf8)
  /// What comes before the ride in lines of other kinds.
  private static let others = [
    #","ride":{"id":""#, #","card":{"ride":""#, #","outcome":{"ride":""#,
  ]
  .map { Array($0.utf8) }

  /// Nil for a line of another form, which has to be parsed.
  init?(_ text: [UInt8]) {
    var index = 0
    func take(_ word: [UInt8]) -> Bool {
      guard text[index...].starts(with: word) else { return false }
      index += word.count
      return true
    }
    /// Returns the bytes of a string whose quote has been read; nil if it has an escape.
    func string() -> ArraySlice<UInt8>? {
      let start = index
      while index < text.count {
        let byte = text[index]
        if byte == UInt8(ascii: "\"") {
          index += 1
          return text[start..<index - 1]
        }
        guard byte >= 32, byte < 128, byte != UInt8(ascii: "\\") else { return nil }
        index += 1
      }
      return nil
    }
    guard take(Self.start), let time = string(), let at = CivilTime.instant(iso: Array(time)) else {
      return nil
    }
    if take(Self.event) {
      guard string() != nil, take(Self.eventRide) else { return nil }
    } else if !Self.others.contains(where: take) {
      return nil
    }
    guard let ride = string() else { return nil }
    self.at = at
    self.ride = ride
  }
}
