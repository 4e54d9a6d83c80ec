/// What `defaults` states for the rules of all files.
package struct RuleDefaults: Hashable, Sendable {
  /// The locale whose text a phone of another one gets.
  package var locale: String?

  package init(locale: String? = nil) {
    self.locale = locale
  }
}
