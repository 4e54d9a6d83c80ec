/// What is wrong with a text that holds placeholders.
public struct TemplateError: Error, Hashable, Sendable {
  /// Where it is wrong: characters from the start of the text.
  public var offset: Int
  /// What stands there.
  public var found: String
  /// What was expected there.
  public var expected: String
  /// The known word that was probably meant.
  public var nearest: String?
}
