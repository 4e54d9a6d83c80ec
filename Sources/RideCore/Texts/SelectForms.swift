/// The texts of a word: `driver_late=The driver was late|other=The ride was cancelled`.
package struct SelectForms: Hashable, Sendable {
  private let forms: [String: String]

  /// Parses the argument of `select`.
  ///
  /// - Throws: `PluralForms.Fault`.
  package init(_ text: String) throws(PluralForms.Fault) {
    forms = try PluralForms.forms(in: text) { !$0.isEmpty }
  }

  /// The words that have a text of their own, sorted.
  package var words: [String] { forms.keys.filter { $0 != "other" }.sorted() }

  /// Returns the text of a word, otherwise that of `other`.
  func form(of word: String) -> String { forms[word] ?? forms["other"] ?? "" }
}
