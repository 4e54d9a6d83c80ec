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
