/// Generates completions for fish.
enum FishCompletion {
  static func script(_ forms: [CommandForm]) -> String {
    var lines = [
      "# fish completion for ridepulse; made by `ridepulse completions fish`.", "",
      "complete -c ridepulse -f",
      "complete -c ridepulse -n __fish_use_subcommand -l help -d 'print this and do nothing'",
      "complete -c ridepulse -n __fish_use_subcommand -l version -d 'print the version'",
    ]
    for form in forms {
      lines.append(
        "complete -c ridepulse -n __fish_use_subcommand -a \(form.name) -d \(quoted(form.summary))")
    }
    for form in forms {
      let seen = "__fish_seen_subcommand_from \(form.name)"
      lines.append("")
      lines += form.allOptions.map { option in
        "complete -c ridepulse -n \(quoted(seen)) -l \(option.name.dropFirst(2))"
          + (option.kind.map(value) ?? "") + " -d \(quoted(option.help))"
      }
      lines += form.operands.compactMap { operand(of: form, $0) }
    }
    return lines.joined(separator: "\n")
  }

  private static func value(_ kind: WordKind) -> String {
    switch kind {
    case .choice(let words): " -x -a \(quoted(words.joined(separator: " ")))"
    case .directory: " -x -a '(__fish_complete_directories)'"
    case .file: " -r -F"
    case .free: " -x"
    }
  }

  private static func operand(of form: CommandForm, _ operand: CommandForm.Operand) -> String? {
    let seen = "__fish_seen_subcommand_from \(form.name)"
    switch operand.kind {
    case .choice(let words):
      let list = words.joined(separator: " ")
      let condition = "\(seen); and not __fish_seen_subcommand_from \(list)"
      return "complete -c ridepulse -n \(quoted(condition)) -a \(quoted(list))"
    case .directory:
      return "complete -c ridepulse -n \(quoted(seen)) -a '(__fish_complete_directories)'"
    case .file: return "complete -c ridepulse -n \(quoted(seen)) -F"
    case .free: return nil
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
