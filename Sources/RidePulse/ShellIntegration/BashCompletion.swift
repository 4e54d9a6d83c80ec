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
