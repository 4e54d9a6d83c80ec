import Base

/// The tokens of an expression, and the index up to which they were read.
struct CELTokens {
  private let text: [Unicode.Scalar]
  private let tokens: [CELToken]
  private var index = 0

  init(_ text: [Unicode.Scalar]) throws(CELProblem) {
    self.text = text
    tokens = try CELLexer.tokens(of: text)
  }

  // The last token is the end of the expression, and stays the next one.
  private var token: CELToken { tokens[min(index, tokens.count - 1)] }

  /// The next token.
  var kind: CELToken.Kind { token.kind }
  /// Where the next token begins.
  var start: Int { token.range.lowerBound }
  /// The end of the token before that.
  var end: Int { index > 0 ? tokens[min(index, tokens.count) - 1].range.upperBound : 0 }

  mutating func advance() { index += 1 }

  /// Skips a sign if it is next; returns whether it was.
  mutating func take(_ sign: String) -> Bool {
    guard kind == .sign(sign) else { return false }
    index += 1
    return true
  }

  mutating func require(_ sign: String) throws(CELProblem) {
    if take(sign) { return }
    throw unexpected("\"\(sign)\"")
  }

  /// Returns the problem of a token that is not expected.
  func unexpected(_ expected: String) -> CELProblem {
    let range = token.range
    let found =
      kind == .end
      ? "the end of the expression"
      : String(String.UnicodeScalarView(text[range])).quotedBrief
    return CELProblem(offset: range.lowerBound, found: found, expected: expected)
  }
}
