import LocalStack
import TestSupport

/// Runs a process to its end and expects no secrets in what it prints to standard error.
enum Command {
  /// The path of this build's binary.
  static var ridepulse: String {
    get throws { try LocalBinary.path("ridepulse") }
  }

  /// Runs `ridepulse` with only the given environment.
  static func ridepulse(
    _ words: [String], _ environment: [String: String] = [:], in directory: String? = nil
  ) throws -> Tool {
    try run(try ridepulse, words, environment, in: directory)
  }

  static func run(
    _ path: String, _ words: [String], _ environment: [String: String] = [:],
    in directory: String? = nil
  ) throws -> Tool {
    let result = try Tool.run(
      path, words, environment: environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own },
      in: directory)
    Secrets.expectNone(in: result.errors)
    return result
  }
}
