package import Base

/// A span of the app's that RidePulse's spans continue: the `traceparent` of W3C Trace Context.
package struct TraceParent: Hashable, Sendable {
  package var traceID: UInt128
  package var spanID: UInt64
  /// Whether the app's tracer keeps the trace.
  package var isSampled: Bool

  package init(traceID: UInt128, spanID: UInt64, isSampled: Bool = true) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
  }

  /// Parses `00-<32 digits>-<16 digits>-<2 digits>`; nil for anything else.
  ///
  /// A later version may add more after a hyphen, which is not read.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    let hyphen = UInt8(ascii: "-")
    guard bytes.count >= Self.length, [2, 35, 52].allSatisfy({ bytes[$0] == hyphen }),
      let version = Self.number(bytes[0..<2]), version != 0xff,
      let trace = Self.number(bytes[3..<35]), trace != 0,
      let span = Self.number(bytes[36..<52]), span != 0,
      let flags = Self.number(bytes[53..<55])
    else { return nil }
    if bytes.count > Self.length, version == 0 || bytes[Self.length] != hyphen { return nil }
    self.init(
      traceID: trace, spanID: UInt64(truncatingIfNeeded: span), isSampled: flags & 1 == 1)
  }

  /// The number of bytes in version 00.
  private static let length = 55

  /// Only lower-case digits are allowed.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt128? {
    var number: UInt128 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt128(digit - 48)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt128(digit - 87)
      default: return nil
      }
    }
    return number
  }

  /// The header's value in version 00.
  package var text: String {
    "00-\(traceID.digits)-\(spanID.digits)-\(isSampled ? "01" : "00")"
  }
}

extension TraceParent: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard let parent = TraceParent(try String(stored: stored)) else {
      throw StoredFault(stored, isNot: "a traceparent")
    }
    self = parent
  }

  package func store(in json: inout [UInt8]) { json.append(json: text) }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// All hexadecimal digits, in lower case.
  var digits: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
