/// How a command ends, for whoever started it.
enum ExitStatus: Int32 {
  /// Done.
  case done = 0
  /// Failed; standard error says why.
  case failed = 1
  /// It looked, and found problems.
  case foundProblems = 2
  /// The command line can't be understood.
  case usage = 64
}

/// A failure that ends a command, in one line that says what, where, and what to do.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  var status = ExitStatus.failed

  init(_ description: String, status: ExitStatus = .failed) {
    self.description = description
    self.status = status
  }
}
