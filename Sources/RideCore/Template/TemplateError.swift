/// An error in a text with placeholders.
package struct TemplateError: Error, Hashable, Sendable {
  /// The offset of the error, in characters from the start of the text.
  package var offset: Int
  /// The text at that offset.
  package var found: String
  /// The text that was expected there.
  package var expected: String
  /// The known word that was probably meant.
  package var nearest: String?
}
