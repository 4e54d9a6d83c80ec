/// Whether producers may notify a sleeping node, and where the node listens: `RIDEPULSE_LISTEN`.
enum Listening: Hashable, Sendable {
  /// The node only polls.
  case off
  /// The node listens over the address of its other sessions.
  case on
  /// The node listens over a connection string of its own, past the pooler of its other sessions.
  case over(String)

  /// Reads the variable, or the file that `RIDEPULSE_LISTEN_FILE` names.
  ///
  /// - Throws: `CommandFailure` for a text that is not `on`, `off` or a connection string.
  init(_ environment: [String: String]) throws(CommandFailure) {
    let variable = try SecretVariable(
      "RIDEPULSE_LISTEN", in: environment, prefixes: ["postgres:", "postgresql:", "host="])
    let text = variable?.text ?? "on"
    switch text.lowercased() {
    case "on": self = .on
    case "off": self = .off
    default:
      guard text.contains("=") || text.contains("://") else {
        // Not shown: it may be a password that stands in the wrong place.
        throw CommandFailure(
          "\(variable?.name ?? "") is none of on, off and a connection string")
      }
      self = .over(text)
    }
  }

  /// The connection string of LISTEN; nil if it is that of the other sessions.
  var address: String? {
    if case .over(let address) = self { address } else { nil }
  }
}
