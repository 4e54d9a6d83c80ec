/// `ridepulse complete`: prints what a shell offers for the last word of a command line.
enum Complete: Command {
  static let form = CommandForm(
    name: "complete", summary: "print what a shell offers for the last word; completions call it",
    operands: [
      .init(
        name: "WORD", isOptional: true, isRepeatable: true,
        help: "the words after ridepulse; bash gives the = of --name=value as a word")
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let lines = offer(for: context.arguments.operands).lines
    if !lines.isEmpty { Terminal.print(lines.joined(separator: "\n")) }
    return .done
  }

  /// What a shell offers for a word.
  enum Offer: Equatable {
    /// These words, each with its meaning if it has one.
    case words([Word])
    case directories
    case files

    struct Word: Equatable {
      var text: String
      var meaning = ""
    }

    static let none = Offer.words([])

    /// A line for each word, its meaning after a tab; a line that begins with a colon for paths.
    var lines: [String] {
      switch self {
      case .words(let words):
        words.map { $0.meaning.isEmpty ? $0.text : "\($0.text)\t\($0.meaning)" }
      case .directories: [":directories"]
      case .files: [":files"]
      }
    }

    fileprivate func beginning(with prefix: String, after lead: String = "") -> Offer {
      guard case .words(let words) = self else { return self }
      return .words(
        words.filter { $0.text.hasPrefix(prefix) }.map {
          Word(text: lead + $0.text, meaning: $0.meaning)
        })
    }
  }

  static func offer(for words: [String]) -> Offer {
    let last = words.last ?? ""
    guard words.count > 1 else { return commands.beginning(with: last) }
    guard let form = Commands.named(words[0])?.form else { return .none }
    let line = Line(words.dropFirst().dropLast(), of: form)
    if let option = line.pending { return option.offer.beginning(with: last == "=" ? "" : last) }
    if last == "=" || line.isAfterSign { return .none }
    if last.hasPrefix("-"), !line.isRaw {
      guard let end = last.firstIndex(of: "=") else { return form.options(with: last) }
      let option = form.allOptions.first { $0.name == last[..<end] }
      return (option?.offer ?? .none)
        .beginning(with: String(last[end...].dropFirst()), after: String(last[...end]))
    }
    if let operand = form.operand(line.operands) { return operand.offer.beginning(with: last) }
    return last.isEmpty ? form.options(with: "") : .none
  }

  private static let commands = Offer.words(
    Commands.all.map { Offer.Word(text: $0.form.name, meaning: $0.form.summary) } + [
      Offer.Word(text: "--help", meaning: "print the commands"),
      Offer.Word(text: "--version", meaning: "print the version"),
    ])

  /// The words between a command and the one that is completed.
  private struct Line {
    /// The number of operands.
    var operands = 0
    /// The option whose value comes next.
    var pending: CommandForm.Option?
    /// Whether `--` ended the options.
    var isRaw = false
    /// Whether what follows belongs to the word before `=`, such as the 5 of `--data eta=5`.
    var isAfterSign = false

    init(_ words: some Sequence<String>, of form: CommandForm) {
      for word in words {
        if word == "=" {
          isAfterSign = pending == nil
        } else if isAfterSign {
          isAfterSign = false
        } else if pending != nil {
          pending = nil
        } else if !isRaw, word == "--" {
          isRaw = true
        } else if !isRaw, word.hasPrefix("-"), word != "-" {
          pending = form.allOptions.first { $0.name == word && $0.value != nil }
        } else {
          operands += 1
        }
      }
    }
  }
}

extension CommandForm {
  fileprivate func options(with prefix: String) -> Complete.Offer {
    .words(allOptions.map { Complete.Offer.Word(text: $0.name, meaning: $0.help) })
      .beginning(with: prefix)
  }

  /// The operand at an index; nil if none may follow.
  fileprivate func operand(_ index: Int) -> Operand? {
    if index < operands.count { return operands[index] }
    return operands.last.flatMap { $0.isRepeatable ? $0 : nil }
  }
}

extension Complete.Offer {
  /// - Parameter name: The placeholder in the help text, such as DIR.
  fileprivate init(_ name: String, choices: [String]) {
    self =
      switch name {
      case _ where !choices.isEmpty: .words(choices.map { Word(text: $0) })
      case "DIR": .directories
      case "FILE", "PATH": .files
      // Any text is possible.
      default: .none
      }
  }
}

extension CommandForm.Option {
  fileprivate var offer: Complete.Offer { Complete.Offer(value ?? "", choices: choices) }
}

extension CommandForm.Operand {
  fileprivate var offer: Complete.Offer { Complete.Offer(name, choices: choices) }
}
