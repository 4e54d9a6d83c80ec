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

/// Generates completions for bash, without need of the bash-completion package.
enum BashCompletion {
  static func script(_ forms: [CommandForm]) -> String {
    """
    # bash completion for ridepulse; made by `ridepulse completions bash`.

    _ridepulse() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
      local command=${COMP_WORDS[1]} options= valued= place=0 index word
      COMPREPLY=()
      # --name=value comes as three words.
      if [ "$current" = "=" ]; then
        current=
      elif [ "$previous" = "=" ]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
      fi
      if [ "$COMP_CWORD" -eq 1 ]; then
        _ridepulse_words "\(forms.map(\.name).joined(separator: " ")) --help --version"
        return
      fi
      case $command in
    \(forms.map(options).joined(separator: "\n"))
        *) return ;;
      esac
      case " $valued " in
        *" $previous "*)
          case "$command $previous" in
    \(forms.flatMap(values).joined(separator: "\n"))
          esac
          return ;;
      esac
      case $current in
        -*) _ridepulse_words "$options"; return ;;
      esac
      # How many words in their place stand before this one.
      for ((index = 2; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $word in
          =) ((index++)) ;;
          -*)
            case " $valued " in
              *" $word "*) [ "${COMP_WORDS[index+1]}" = "=" ] || ((index++)) ;;
            esac ;;
          *) ((place++)) ;;
        esac
      done
      case "$command $place" in
    \(forms.flatMap(operands).joined(separator: "\n"))
        *) [ -n "$current" ] || _ridepulse_words "$options" ;;
      esac
    }

    _ridepulse_words() {
      mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
    }

    _ridepulse_paths() {
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
    }

    complete -F _ridepulse ridepulse
    """
  }

  private static func options(_ form: CommandForm) -> String {
    let valued = form.allOptions.filter { $0.value != nil }
    return """
          \(form.name))
            options="\(form.allOptions.map(\.name).joined(separator: " "))"
            valued="\(valued.map(\.name).joined(separator: " "))" ;;
      """
  }

  private static func values(_ form: CommandForm) -> [String] {
    form.allOptions.compactMap { option in
      option.kind.flatMap(offer).map { "        \"\(form.name) \(option.name)\") \($0) ;;" }
    }
  }

  private static func operands(_ form: CommandForm) -> [String] {
    form.operands.enumerated().compactMap { index, operand in
      offer(operand.kind).map { "    \"\(form.name) \(index)\") \($0) ;;" }
    }
  }

  private static func offer(_ kind: WordKind) -> String? {
    switch kind {
    case .choice(let words): "_ridepulse_words \"\(words.joined(separator: " "))\""
    case .directory: "_ridepulse_paths -d"
    case .file: "_ridepulse_paths -f"
    case .free: nil
    }
  }
}

/// Generates completions for zsh, loaded by `compinit` or sourced.
enum ZshCompletion {
  static func script(_ forms: [CommandForm]) -> String {
    """
    #compdef ridepulse
    # zsh completion for ridepulse; made by `ridepulse completions zsh`.

    _ridepulse() {
      local -a commands
      commands=(
    \(forms.map { "    " + quoted("\($0.name):\($0.summary)") }.joined(separator: "\n"))
      )
      if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then
          compadd -- --help --version
        else
          _describe command commands
        fi
        return
      fi
      local command=$words[2]
      shift words
      (( CURRENT-- ))
      case $command in
    \(forms.map(arguments).joined(separator: "\n"))
      esac
    }

    if [[ $funcstack[1] == _ridepulse ]]; then
      _ridepulse "$@"
    else
      compdef _ridepulse ridepulse
    fi
    """
  }

  private static func arguments(_ form: CommandForm) -> String {
    let options = form.allOptions.map { option -> String in
      let repeats = option.isRepeatable ? "*" : ""
      guard let name = option.value, let kind = option.kind else {
        return quoted("\(repeats)\(option.name)[\(plain(option.help))]")
      }
      return quoted(
        "\(repeats)\(option.name)=[\(plain(option.help))]:\(plain(name)):\(action(kind))")
    }
    let operands = form.operands.enumerated().map { index, operand in
      quoted(
        "\(index + 1):\(operand.isOptional ? ":" : "")\(plain(operand.name)):\(action(operand.kind))"
      )
    }
    let lines = (options + operands).map { "      " + $0 }.joined(separator: " \\\n")
    return "    \(form.name)) _arguments \\\n\(lines) ;;"
  }

  private static func action(_ kind: WordKind) -> String {
    switch kind {
    case .choice(let words): "(\(words.joined(separator: " ")))"
    case .directory: "_directories"
    case .file: "_files"
    case .free: ""
    }
  }

  /// Escapes the characters that are special in `_arguments`.
  private static func plain(_ text: String) -> String {
    text.map { "[]:\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}

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
