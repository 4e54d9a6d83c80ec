import Base
import RideCore

/// An invalid command line, which exits with status 64.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ message: String, form: CommandForm) {
    description = "ridepulse \(form.name): \(Escape.line(message))\nUsage: \(form.usage)"
  }

  init(unknownCommand word: String) {
    description =
      "ridepulse: unknown command \(Escape.line(word))\(suggestion(for: word, among: Commands.names))\n"
      + "Known are \(Commands.names.joined(separator: ", ")); see ridepulse --help"
  }
}
