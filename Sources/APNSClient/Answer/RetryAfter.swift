import CLibcurl
import RideCore

/// Parses the value of `retry-after`: seconds or an HTTP date.
enum RetryAfter {
  /// The upper limit; longer waits are of no use.
  static let longest: Duration = .seconds(24 * 3600)

  /// Returns how long to wait, or nil if the value has neither form.
  static func duration(of value: [UInt8], at now: Timestamp) -> Duration? {
    let text = String(decoding: value, as: UTF8.self)
      .trimmingPrefix { $0 == " " }
    guard !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
      return min(longest, .seconds(Int64(text) ?? 24 * 3600))
    }
    return date(Array(text.utf8)).map { min(longest, max(.zero, $0 - now)) }
  }

  /// Parses an HTTP date.
  static func date(_ value: [UInt8]) -> Timestamp? {
    let text = String(decoding: value, as: UTF8.self)
    // curl_getdate also accepts scraps such as "12:30" or "tomorrow"; an HTTP date ends in GMT.
    guard text.hasSuffix("GMT") else { return nil }
    let seconds = unsafe text.withCString { unsafe curl_getdate($0, nil) }
    return seconds < 0 ? nil : Timestamp(epochSeconds: Int64(seconds))
  }
}
