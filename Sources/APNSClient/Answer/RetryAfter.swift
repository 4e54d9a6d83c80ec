import CLibcurl
import RideCore

/// The value of `retry-after`: seconds, or a date of HTTP.
enum RetryAfter {
  /// A wait that nobody would keep is cut to this.
  static let longest: Duration = .seconds(24 * 3600)

  /// How long to wait; nil where the value is neither form.
  static func duration(of value: [UInt8], at now: Timestamp) -> Duration? {
    let text = String(decoding: value, as: UTF8.self)
      .trimmingPrefix { $0 == " " }
    guard !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
      return min(longest, .seconds(Int64(text) ?? 24 * 3600))
    }
    return date(Array(text.utf8)).map { min(longest, max(.zero, $0 - now)) }
  }

  /// Reads a date of HTTP.
  static func date(_ value: [UInt8]) -> Timestamp? {
    let text = String(decoding: value, as: UTF8.self)
    // curl_getdate would also read "12:30" or "tomorrow"-like scraps; a date of HTTP ends so.
    guard text.hasSuffix("GMT") else { return nil }
    let seconds = unsafe text.withCString { unsafe curl_getdate($0, nil) }
    return seconds < 0 ? nil : Timestamp(epochSeconds: Int64(seconds))
  }
}
