/// The exit status of a command.
enum ExitStatus: Int32 {
  case done = 0
  /// Failed; standard error has the reason.
  case failed = 1
  /// The command ran, and found problems.
  case foundProblems = 2
  /// The command line is invalid.
  case usage = 64
}

/// A failure that ends a command: one line with what is wrong, where, and what to do.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  var status = ExitStatus.failed

  init(_ description: String, status: ExitStatus = .failed) {
    self.description = description
    self.status = status
  }
}
