/// `ridepulse completions`: prints shell completions, generated from the same forms as the help.
enum Completions: Command {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  static let form = CommandForm(
    name: "completions", summary: "print a shell's completions; packages install them",
    operands: [
      .init(name: "SHELL", choices: CommandForm.words(Shell.self), help: "bash, zsh or fish")
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let shell = try form.choice(context.arguments.operands[0], "shell", of: Shell.self)
    let forms = Commands.all.map { $0.form }
    switch shell {
    case .bash: Terminal.print(BashCompletion.script(forms))
    case .zsh: Terminal.print(ZshCompletion.script(forms))
    case .fish: Terminal.print(FishCompletion.script(forms))
    }
    return .done
  }
}

/// What a shell can offer as completions for a command-line word.
enum WordKind: Equatable {
  case choice([String])
  case directory
  case file
  /// No completions: any text is possible.
  case free

  /// - Parameter name: The placeholder in the help text, such as DIR.
  init(_ name: String, choices: [String]) {
    self =
      if !choices.isEmpty {
        .choice(choices)
      } else {
        switch name {
        case "DIR": .directory
        case "FILE": .file
        default: .free
        }
      }
  }
}

extension CommandForm.Option {
  /// The kind of the option's value; nil if it takes none.
  var kind: WordKind? { value.map { WordKind($0, choices: choices) } }
}

extension CommandForm.Operand {
  var kind: WordKind { WordKind(name, choices: choices) }
}
