import Foundation

/// The currency of an amount: a code of ISO 4217, or the path of a value that is one.
package enum CurrencyCode: Hashable, Sendable {
  case code(String)
  case path(Placeholder)

  /// Returns whether ISO 4217 has the code, in whatever case.
  package static func isKnown(_ code: String) -> Bool {
    FoundationFormats.currencies.contains(code.uppercased())
  }

  /// Returns the amount of so many minor units: 1250 cents are 12.50 EUR, 1250 JPY are 1250 yen.
  static func amount(ofMinorUnits units: Decimal, _ code: String) -> Decimal {
    let digits = other[code] ?? 2
    let sign: FloatingPointSign = units < 0 ? .minus : .plus
    return Decimal(sign: sign, exponent: -digits, significand: abs(units))
  }

  /// The decimal places of ISO 4217 that are not two. CLDR's differ: it writes no fils of a dinar.
  private static let other: [String: Int] = {
    let places = [
      0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
      3: "BHD IQD JOD KWD LYD OMR TND",
      4: "CLF UYW",
    ]
    var digits: [String: Int] = [:]
    for (count, codes) in places {
      for code in codes.split(separator: " ") { digits[String(code)] = count }
    }
    return digits
  }()
}
