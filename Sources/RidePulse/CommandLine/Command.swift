/// One of `ridepulse`'s commands.
protocol Command: SendableMetatype {
  /// What may stand behind its name.
  static var form: CommandForm { get }

  /// Does it.
  static func run(_ context: CommandContext) async throws -> ExitStatus
}

/// What every command is given.
struct CommandContext {
  var arguments: Arguments
  var environment: [String: String]
  var log: LogWriter
}

/// The commands, in the order of the help.
enum Commands {
  static let all: [any Command.Type] = [
    Serve.self, Trigger.self, Preview.self, Explain.self, Check.self, Doctor.self, Migrate.self,
    Channels.self,
    LegacyGatewayCommand.self, Demo.self,
  ]

  /// Those that packages are made with; the help does not name them.
  static let hidden: [any Command.Type] = [Completions.self, ManPage.self]

  static var names: [String] { all.map { $0.form.name } }

  /// The command of a name.
  static func named(_ name: String) -> (any Command.Type)? {
    (all + hidden).first { $0.form.name == name }
  }

  /// What all this is, in a sentence.
  static let summary =
    "RidePulse tells a ride service's phones what they must know, in time and once."

  /// The help page without a command.
  static var help: String {
    let rows = all.map { ($0.form.name, $0.form.summary) }
    return """
      \(summary)

      Usage: ridepulse COMMAND ...

      \(CommandForm.columns(rows).joined(separator: "\n"))

      ridepulse COMMAND --help says more of each. docs/configuration.md lists the environment.
      """
  }
}
