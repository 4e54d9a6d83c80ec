import Base
import Foundation
import RideCore

extension CommandContext {
  /// Asks on the terminal; `--yes` answers in advance.
  ///
  /// - Parameter action: what needs the confirmation, for the error.
  /// - Throws: `UsageError` if there is neither a terminal nor `--yes`.
  func confirms(_ question: String, for action: String, _ form: CommandForm) throws -> Bool {
    if arguments.has("--yes") { return true }
    guard isatty(STDIN_FILENO) == 1, Terminal.isInteractive else {
      throw UsageError("\(action) needs --yes without a terminal to confirm on", form: form)
    }
    Terminal.write("\(Escape.line(question)) [y/N] ", to: STDOUT_FILENO)
    return ["y", "yes"].contains(readLine()?.lowercased())
  }
}
