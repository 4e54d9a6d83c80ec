import Base
import SimulatorKit

/// What a request for messages asks for: the words after `?`.
struct MessageQuery: Equatable {
  /// The token, registration, channel or phone; six letters of its beginning or end suffice.
  var token: String?
  var type: String?
  /// Whether only those that were refused are wanted, or only the others.
  var isRefused: Bool?
  /// Messages with a larger number are wanted, or changes since this revision.
  var after = 0
  var waitMilliseconds = 0
  var hasScreen = false

  struct Fault: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  private static let keys = ["token", "type", "refused", "after", "wait", "screen"]
  private static let longestWait = Duration.seconds(300)
  private static let shortestPart = 6
  /// What a page's numbers hold exactly; no inbox gets there.
  private static let largestNumber = 1 << 53

  init(_ path: String) throws(Fault) {
    let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var seen: Set<String> = []
    for pair in parts.count == 2 ? parts[1].split(separator: "&") : [] {
      let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = FormBody.decoded(words[0], plusIsSpace: true)
      let value = FormBody.decoded(words.count == 2 ? words[1] : "", plusIsSpace: true)
      guard seen.insert(key).inserted else { throw Fault(description: "\(key) appears twice") }
      try set(key, value)
    }
  }

  private mutating func set(_ key: String, _ value: String) throws(Fault) {
    func fault(_ expected: String) -> Fault {
      Fault(description: "\(key): found \"\(value)\", expected \(expected)")
    }
    switch key {
    case "token":
      if value.isEmpty { throw fault("a token, its beginning or end, or a phone") }
      token = value
    case "type":
      if value.isEmpty { throw fault("a push type such as alert") }
      type = value
    case "refused":
      guard let flag = Bool(value) else { throw fault("true or false") }
      isRefused = flag
    case "after":
      guard let number = Int(value), (0...Self.largestNumber).contains(number) else {
        throw fault("a number from 0 to \(Self.largestNumber)")
      }
      after = number
    case "wait":
      guard let wait = Duration(rideText: value), wait <= Self.longestWait else {
        throw fault("a time such as 5s, at most 5m")
      }
      waitMilliseconds = Int(wait.microseconds / 1000)
    case "screen":
      guard let flag = Bool(value) else { throw fault("true or false") }
      hasScreen = flag
    default:
      throw Fault(
        description: "unknown \"\(key)\"" + suggestion(for: key, among: Self.keys)
          + ", expected one of " + Self.keys.joined(separator: ", "))
    }
  }
}

extension MessageQuery {
  func matches(_ message: InboxMessage) -> Bool {
    if let type, message.type != type { return false }
    if let isRefused, isRefused != (message.fate == .refused) { return false }
    return matches([message.address.text, message.address.phone ?? ""])
  }

  func matches(_ phone: InboxPhone) -> Bool { matches(phone.addresses + [phone.id]) }

  private func matches(_ names: [String]) -> Bool {
    guard let token else { return true }
    // Hex digits have no case, and no two registrations differ in case alone.
    let wanted = token.lowercased()
    return names.contains { name in
      let name = name.lowercased()
      if name == wanted { return true }
      return wanted.count >= Self.shortestPart && (name.hasPrefix(wanted) || name.hasSuffix(wanted))
    }
  }
}
