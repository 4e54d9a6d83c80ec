/// `ridepulse completions`: what a shell completes, made from the forms that the help is made from.
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

/// What a shell can offer for a word of the command line.
enum WordKind: Equatable {
  case choice([String])
  case directory
  case file
  /// Only the person knows.
  case free

  /// - Parameter name: What the help calls it, such as DIR.
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
  /// What may stand behind it; nil where it takes no value.
  var kind: WordKind? { value.map { WordKind($0, choices: choices) } }
}

extension CommandForm.Operand {
  var kind: WordKind { WordKind(name, choices: choices) }
}
