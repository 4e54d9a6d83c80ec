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
