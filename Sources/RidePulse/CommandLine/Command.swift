/// A command of `ridepulse`.
protocol Command: SendableMetatype {
  /// The operands and options of the command.
  static var form: CommandForm { get }

  static func run(_ context: CommandContext) async throws -> ExitStatus
}

struct CommandContext {
  var arguments: Arguments
  var environment: [String: String]
  var log: LogWriter
}

enum Commands {
  static let all: [any Command.Type] = [
    Serve.self, Trigger.self, Push.self, Broadcast.self, Preview.self, Explain.self, Check.self,
    TestRules.self, Record.self, Rehearse.self, Generate.self, Doctor.self, Migrate.self,
    Backfill.self, Channels.self, Forget.self, LegacyGatewayCommand.self, Demo.self,
  ]

  /// The commands used to build packages, which the help omits.
  static let hidden: [any Command.Type] = [Completions.self, ManPage.self]

  static var names: [String] { all.map { $0.form.name } }

  static func named(_ name: String) -> (any Command.Type)? {
    (all + hidden).first { $0.form.name == name }
  }

  /// The one-sentence description of the program.
  static let summary =
    "RidePulse notifies the phones of a ride service in time, once, and only while it is true."

  /// The help page that is printed without a command.
  static var help: String {
    let rows = all.map { ($0.form.name, $0.form.summary) }
    return """
      \(summary)

      Usage: ridepulse COMMAND ...

      \(CommandForm.columns(rows).joined(separator: "\n"))

      ridepulse COMMAND --help describes a command. docs/configuration.md lists the environment.
      """
  }
}

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
