/// A failure that ends a command: one line with what is wrong, where, and what to do.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  var status = ExitStatus.failed

  init(_ description: String, status: ExitStatus = .failed) {
    self.description = description
    self.status = status
  }
}
