import RideCore

extension FieldType {
  /// What is sent, in a sentence.
  var phrase: String {
    switch self {
    case .string: "a string"
    case .state: "the ride's state, a string"
    case .words(let words): "one of \(alternatives(words))"
    case .int: "a whole number"
    case .double: "a number that may have a fraction"
    case .bool: "true or false"
    case .dateEpoch: "a time in seconds"
    case .list: "a list"
    case .object: "an object"
    case .unknown: "of an unknown type"
    }
  }

  /// The Swift type that decodes it.
  var swiftName: String {
    switch self {
    case .string, .state, .words: "String"
    case .int, .dateEpoch: "Int"
    case .double: "Double"
    case .bool: "Bool"
    case .list: "an array"
    case .object: "a struct"
    case .unknown: "a type of its own"
    }
  }
}
