import SimulatorKit

/// A registration that the simulator knows more of than its form.
struct Registration: Equatable {
  /// The project that issued it; nil for any.
  var project: String?
  /// The app's package; nil for any.
  var package: String?
  /// The phone's state at the start; nil means awake.
  var state: Phone.State?
}

/// The registrations of `registrations.json`.
struct Registrations: Equatable {
  private var known: [String: Registration] = [:]

  init() {}

  /// Parses `{"REGISTRATION": {"project": …, "package": …, "state": …}}`.
  init(text: [UInt8]) throws(FormatError) {
    let json = try FormatReader.json(text)
    guard let entries = json.object else {
      throw FormatError(found: json.description, expected: "{\"REGISTRATION\": {…}}")
    }
    for (text, entry) in entries.sorted(by: { $0.key < $1.key }) {
      guard Self.isWellFormed(text, isFID: false) else {
        throw FormatError(
          found: "\"\(text)\"", expected: "a registration token or an installation ID")
      }
      let reader = try FormatReader(entry, at: text, keys: ["project", "package", "state"])
      known[text] = Registration(
        project: try reader.string("project"), package: try reader.string("package"),
        state: try Self.state(reader))
    }
  }

  private static func state(_ reader: FormatReader) throws(FormatError) -> Phone.State? {
    guard let word = try reader.string("state") else { return nil }
    guard let state = Phone.State(rawValue: word) else {
      let words = Phone.State.allCases.map(\.rawValue)
      throw reader.error("state", "one of " + words.joined(separator: ", "))
    }
    return state
  }

  /// The states of phones that have one.
  var states: [String: Phone.State] { known.compactMapValues(\.state) }

  subscript(text: String) -> Registration? { known[text] }

  /// Returns whether the text has the form of a Firebase installation ID, or of a registration
  /// token, in whose place an installation ID is taken, too.
  static func isWellFormed(_ text: String, isFID: Bool) -> Bool {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let isInstallation =
      parts[0].utf8.count == 22 && parts[0].utf8.allSatisfy(isBase64URL)
    if parts.count == 1 {
      return isInstallation && parts[0].utf8.first.map(Array("cdef".utf8).contains) == true
    }
    return !isFID && isInstallation && parts[1].utf8.count >= 20
      && parts[1].utf8.allSatisfy { isBase64URL($0) || $0 == UInt8(ascii: ":") }
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
