package import Base

extension JSONValue {
  /// The value for a message: a text in quotes, shortened.
  fileprivate var brief: String {
    if case .string(let text) = self { text.quotedBrief } else { text.brief(bytes: 60) }
  }
}

/// Why a push cannot be rendered; the ledger records its `reason`.
package enum RenderingError: Error, Hashable, Sendable {
  /// The value is missing or null.
  case missing(String)
  /// A text for people to read is empty.
  case emptyText(String)
  /// The JSON is unreadable.
  case unreadable(String)
  /// A value that must be a time is not one.
  case notATime(String, JSONValue)
  /// A value that must be a number is not one.
  case notANumber(String, JSONValue)
  /// A value that must be a currency's code is not one.
  case notACurrency(String, JSONValue)
  /// The value of a card's field is not of the field's type.
  case wrongType(String, JSONValue, FieldType)
  /// The ride's zone is not in the tz database.
  case unknownZone(String)

  /// The reason that the ledger records.
  package var ledgerReason: LedgerReason {
    switch self {
    case .unknownZone: LedgerReason(.unknownTimeZone, reason)
    case .notATime: LedgerReason(.notATime, reason)
    case .notANumber: LedgerReason(.notANumber, reason)
    case .notACurrency: LedgerReason(.notACurrency, reason)
    case .wrongType: LedgerReason(.cardType, reason)
    case .missing, .emptyText, .unreadable: LedgerReason(.missingValue, reason)
    }
  }

  /// What is missing or unreadable, and its path.
  package var reason: String {
    switch self {
    case .missing(let path): "missing \(path)"
    case .emptyText(let key): "empty \(key)"
    case .unreadable(let path): "unreadable \(path)"
    case .notATime(let path, let value): "\(path) \(value.brief) is not a time"
    case .notANumber(let path, let value): "\(path) \(value.brief) is not a number"
    case .notACurrency(let path, let value): "\(path) \(value.brief) is not a currency"
    case .wrongType(let path, let value, .state):
      "\(path) is \(value.described), which is not a state of the rule files"
    case .wrongType(let path, let value, let type):
      "\(path) is \(value.described), the card's type is \(type.word)"
    case .unknownZone(let zone): "unknown time zone \(zone.prefix(60))"
    }
  }
}

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
