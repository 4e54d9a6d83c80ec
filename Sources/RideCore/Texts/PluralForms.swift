/// The forms of a text by number: `one=# minute|other=# minutes`; `#` is the number.
package struct PluralForms: Hashable, Sendable {
  /// The forms by category, or by an exact number such as `0`.
  private let forms: [String: String]

  /// Parses the argument of `plural`.
  ///
  /// - Throws: `Fault`.
  package init(_ text: String) throws(Fault) {
    forms = try Self.forms(in: text) {
      PluralRules.Category(rawValue: $0) != nil || Self.isNumber($0)
    }
  }

  /// Parses `name=text|other=text`.
  static func forms(
    in text: String, where isName: (String) -> Bool
  ) throws(Fault) -> [String: String] {
    var forms: [String: String] = [:]
    for part in text.split(separator: "|", omittingEmptySubsequences: false) {
      guard let cut = part.firstIndex(of: "=") else { throw .noForm(String(part)) }
      let name = String(part[..<cut]).trimmed
      guard isName(name) else { throw .unknown(name) }
      if forms.updateValue(String(part[part.index(after: cut)...]), forKey: name) != nil {
        throw .twice(name)
      }
    }
    if forms["other"] == nil { throw .noOther }
    return forms
  }

  package enum Fault: Error, Hashable {
    /// A part without `=`.
    case noForm(String)
    /// What is neither a category nor a number.
    case unknown(String)
    case twice(String)
    case noOther
  }

  /// The categories that have a form, without exact numbers.
  package var categories: Set<PluralRules.Category> {
    Set(forms.keys.compactMap { PluralRules.Category(rawValue: $0) })
  }

  /// Returns the form of a number.
  ///
  /// - Parameter digits: the number without grouping, such as `1.5`.
  func form(of digits: String, by rules: PluralRules) -> String {
    if let exact = forms[digits] { return exact }
    let category = PluralNumber(digits).map { rules.category(of: $0) } ?? .other
    return forms[category.rawValue] ?? forms["other"] ?? ""
  }

  private static func isNumber(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 9 && name.utf8.allSatisfy { (48...57).contains($0) }
      && (name == "0" || !name.hasPrefix("0"))
  }
}

extension String {
  fileprivate var trimmed: String {
    let start = drop { $0.isWhitespace }
    return String(
      start[
        ..<(start.lastIndex { !$0.isWhitespace }.map { start.index(after: $0) } ?? start.startIndex)
      ])
  }
}
