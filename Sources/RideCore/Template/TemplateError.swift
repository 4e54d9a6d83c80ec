/// What is wrong with a text that holds placeholders.
package struct TemplateError: Error, Hashable, Sendable {
  /// Where it is wrong: characters from the start of the text.
  package var offset: Int
  /// What stands there.
  package var found: String
  /// What was expected there.
  package var expected: String
  /// The known word that was probably meant.
  package var nearest: String?
}
