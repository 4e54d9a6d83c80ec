import Base

/// Why a CEL expression has no value.
package enum CELFault: Error, Hashable, Sendable {
  /// A field or a key that is not there.
  case missing
  /// A field of something that has none.
  case noFields(CELTypeName)
  /// A function or an operator that is not defined for these types.
  case noOverload(String, [CELTypeName])
  case divideByZero
  case overflow
  /// A text, or a number, that is no value of the type.
  case unreadable(String, as: CELTypeName)
  /// A time or a duration beyond its range.
  case outOfRange
  case indexOutOfBounds
  case badKey(CELTypeName)
  case repeatedKey
  case unknownZone(String)
  case badPattern(String)
  /// A function that depends on a person, where there is none.
  case noPerson
  /// The expression needs more steps than are allowed.
  case tooLong
  /// All expressions of the decision together need more steps than are allowed.
  case decisionTooLong

  /// Whether nothing more may be evaluated.
  var isOfBudget: Bool { self == .tooLong || self == .decisionTooLong }

  /// What is wrong, after the text of the expression's part.
  var description: String {
    switch self {
    case .missing: "is missing"
    case .noFields(let type): "is missing: what it is in is \(type.word)"
    case .noOverload(let name, let types):
      "\(name) is not defined for \(types.map(\.word).joined(separator: " and "))"
    case .divideByZero: "division by zero"
    case .overflow: "the number is out of range"
    case .unreadable(let text, let type): "\(text.quotedBrief) is no \(type.word)"
    case .outOfRange: "the time is out of range"
    case .indexOutOfBounds: "the list has no such element"
    case .badKey(let type): "\(type.word) is not a type of a key"
    case .repeatedKey: "the key is there twice"
    case .unknownZone(let zone): "unknown time zone \(zone.quotedBrief)"
    case .badPattern(let why): why
    case .noPerson: "there is no person that it depends on"
    case .tooLong: "more than \(CELBudget.limit) steps"
    case .decisionTooLong:
      "the conditions of this ride's rules need more than \(CELBudget.decision) steps together"
    }
  }
}

/// Why an expression has no value, and in which part of it.
package struct CELError: Error, Hashable, Sendable {
  package var fault: CELFault
  /// The part of the expression as it was written.
  package var part: String

  /// A text for people, such as `ride.attributes.eta is missing`.
  package var text: String {
    switch fault {
    case .missing, .noFields: "\(part) \(fault.description)"
    default: "\(part): \(fault.description)"
    }
  }
}

/// A mistake in an expression that is found when it is loaded.
package struct CELProblem: Error, Hashable, Sendable {
  /// The offset of the mistake, in Unicode scalars from the start of the expression.
  package var offset: Int
  package var found: String
  package var expected: String
  /// The known word that was probably meant.
  package var nearest: String?
}

/// The limits that bound the work of an expression, whatever it is applied to.
enum CELBudget {
  /// The steps of an evaluation: one for each part, each element and each 64 bytes of text.
  static let limit = 50_000
  /// The steps of a call of a function of the environment, and one more for each byte of its texts: it
  /// may hash them.
  static let hostCall = 50
  /// The steps of all evaluations of a decision.
  static let decision = 1_000_000
  /// The longest text that can be a number, a time or a duration, in bytes.
  static let valueLength = 1000
  /// The size of an expression, in Unicode scalars.
  static let length = 10_000
  /// How deep an expression may be nested.
  static let depth = 100
}
