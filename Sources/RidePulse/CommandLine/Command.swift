/// A command of `ridepulse`.
protocol Command: SendableMetatype {
  /// The operands and options of the command.
  static var form: CommandForm { get }

  static func run(_ context: CommandContext) async throws -> ExitStatus
}

enum Commands {
  static let all: [any Command.Type] = [
    Serve.self, Trigger.self, Push.self, Broadcast.self, Preview.self, Explain.self, Check.self,
    TestRules.self, Record.self, Rehearse.self, Compare.self, Generate.self, Doctor.self,
    Status.self, Nodes.self, Hold.self, Release.self, PauseCommand.self, ResumeCommand.self,
    Discard.self, Migrate.self, Backfill.self, Channels.self, Unpark.self, Unquarantine.self,
    Revive.self, Export.self, Forget.self, LegacyGatewayCommand.self, Demo.self,
  ]

  /// The commands that packages and shells call, which the help omits.
  static let hidden: [any Command.Type] = [Completions.self, Complete.self, ManPage.self]

  static var names: [String] { all.map { $0.form.name } }

  static func named(_ name: String) -> (any Command.Type)? {
    (all + hidden).first { $0.form.name == name }
  }

  /// The one-sentence description of the program.
  static let summary =
    "RidePulse is the notification engine of a ride service: it sends pushes once, in order, and only "
    + "while they are valid."

  /// Returns the help of the command that is named, or of all.
  static func help(for words: [String]) throws(UsageError) -> String {
    guard let word = words.first else { return help }
    guard let command = named(word) else { throw UsageError(unknownCommand: word) }
    if let next = words.dropFirst().first {
      throw UsageError("unexpected \(next); help takes one command", form: command.form)
    }
    return command.form.help
  }

  /// The help page that is printed without a command.
  static var help: String {
    let rows = all.map { ($0.form.name, $0.form.summary) }
    return """
      \(summary)

      Usage: ridepulse COMMAND ...

      \(CommandForm.columns(rows).joined(separator: "\n"))

      ridepulse help COMMAND describes a command. docs/configuration.md lists the environment.
      """
  }
}
