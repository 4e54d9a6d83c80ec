/// The plural categories of one language, as CLDR defines them.
package struct PluralRules: Sendable {
  package enum Category: String, CaseIterable, Hashable, Sendable {
    case zero, one, two, few, many, other
  }

  private let rules: [(category: Category, condition: PluralCondition)]

  /// Creates the rules of a locale; a language that CLDR does not list has `other` alone.
  package init(_ tag: LocaleTag?) {
    let names = tag.map { LocaleFallback.chain(of: $0).map(\.text) + [$0.language] } ?? []
    rules = names.lazy.compactMap { Self.table[$0] }.first ?? []
  }

  /// The categories of whole numbers up to 200: some languages have another for millions.
  package var everydayCategories: [Category] {
    var found: Set<Category> = []
    for number in 0...200 {
      if let number = PluralNumber(String(number)) { found.insert(category(of: number)) }
    }
    return Category.allCases.filter(found.contains)
  }

  /// Returns the category of a number.
  package func category(of number: PluralNumber) -> Category {
    rules.first { $0.condition.holds(number) }?.category ?? .other
  }

  private static let table: [String: [(category: Category, condition: PluralCondition)]] = {
    var table: [String: [(category: Category, condition: PluralCondition)]] = [:]
    for line in PluralTable.rules.split(separator: "\n") {
      let parts = line.split(separator: "|").map { $0.split(separator: " ") }
      guard let languages = parts.first else { continue }
      let rules = parts.dropFirst().compactMap { words -> (Category, PluralCondition)? in
        guard let category = words.first.flatMap({ Category(rawValue: String($0.dropLast())) })
        else { return nil }
        return (category, PluralCondition(Array(words.dropFirst())))
      }
      for language in languages { table[String(language)] = rules }
    }
    return table
  }()
}

/// The condition of a category: alternatives, each of which is a list of relations.
private struct PluralCondition: Sendable {
  /// `i mod 10 not in 2..4,9`
  struct Relation: Sendable {
    var operand: Character
    var modulus: UInt64?
    var isNegated = false
    var ranges: [ClosedRange<UInt64>] = []

    func holds(_ number: PluralNumber) -> Bool {
      guard var value = number.operand(operand) else { return isNegated }
      if let modulus { value %= modulus }
      return ranges.contains { $0.contains(value) } != isNegated
    }
  }

  private var alternatives: [[Relation]]

  init(_ words: [Substring]) {
    alternatives = words.split(separator: "or").map { alternative in
      alternative.split(separator: "and").compactMap { Relation($0) }
    }
  }

  func holds(_ number: PluralNumber) -> Bool {
    alternatives.contains { $0.allSatisfy { $0.holds(number) } }
  }
}

extension PluralCondition.Relation {
  init?(_ words: ArraySlice<Substring>) {
    guard let operand = words.first?.first else { return nil }
    self.operand = operand
    var words = words.dropFirst()
    if words.first == "mod" {
      guard let modulus = words.dropFirst().first.flatMap({ UInt64($0) }), modulus > 0 else {
        return nil
      }
      self.modulus = modulus
      words = words.dropFirst(2)
    }
    if words.first == "not" {
      isNegated = true
      words = words.dropFirst()
    }
    ranges = (words.dropFirst().first ?? "").split(separator: ",").compactMap { range in
      let ends = range.split(separator: ".").compactMap { UInt64($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return nil }
      return first...last
    }
  }
}

/// A number as plural rules see it: they distinguish `1` from `1.0`.
package struct PluralNumber: Hashable, Sendable {
  /// The digits before the point, without a sign.
  private let whole: UInt64
  /// The digits after the point, as a number.
  private let fraction: UInt64
  private let fractionDigits: Int

  /// Parses digits with an optional sign and fraction; nil for anything else.
  package init?(_ text: String) {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }),
      // Only the last digits and the size matter: no rule looks further than millions.
      let whole = UInt64(parts[0].suffix(18))
    else { return nil }
    let fraction = parts.count == 2 ? parts[1].prefix(18) : ""
    self.whole = parts[0].count > 18 ? whole + 1_000_000_000_000_000_000 : whole
    self.fraction = UInt64(fraction) ?? 0
    fractionDigits = fraction.count
  }

  /// Returns an operand of CLDR's rules; nil for `n` of a number with a fraction, which is in none
  /// of the ranges of whole numbers.
  fileprivate func operand(_ name: Character) -> UInt64? {
    switch name {
    case "n": fraction == 0 ? whole : nil
    case "i": whole
    case "v": UInt64(fractionDigits)
    case "f": fraction
    case "t": trimmedFraction
    // The exponent of compact forms such as 1M, which are never written.
    case "c", "e": 0
    default: nil
    }
  }

  private var trimmedFraction: UInt64 {
    var rest = fraction
    while rest > 0, rest % 10 == 0 { rest /= 10 }
    return rest
  }
}
