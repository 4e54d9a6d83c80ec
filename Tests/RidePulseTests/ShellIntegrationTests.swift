import Foundation
import Testing
import TestSupport

@testable import RidePulse

/// Tests of man page and completions, which are generated from the help and read by real programs.
@Suite("Shell completion and man page") struct ShellIntegrationTests {
  private static let forms = Commands.all.map { $0.form }

  /// The completions call the command by its name.
  private static let environment = [
    "HOME": "/tmp", "TERM": "dumb",
    "PATH": ((try? Command.ridepulse) ?? "").replacing("/ridepulse", with: "") + ":/usr/bin:/bin",
  ]

  private func made(_ words: [String], as name: String) throws -> String {
    let result = try Command.ridepulse(words)
    #expect(result.status == 0, "\(result.errors)")
    let path = "/tmp/ridepulse-\(name)-\(UUID().uuidString)"
    try Data(result.output.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Returns what bash offers for the last word.
  private func bash(_ words: [String]) throws -> [String] {
    let script = try made(["completions", "bash"], as: "completion")
    defer { try? FileManager.default.removeItem(atPath: script) }
    let program = """
      source \(script)
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ridepulse
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = try Command.run(
      "/bin/bash", ["-u", "-c", program, "bash"] + words, Self.environment)
    #expect(result.errors == "")
    return result.output.split(separator: "\n").map(String.init)
  }

  private static let levels = ["debug", "info", "warning", "error"]

  private static let completions: [([String], [String])] = [
    (["ridepulse", "tr"], ["trigger"]),
    (["ridepulse", "--"], ["--help", "--version"]),
    (["ridepulse", "preview", "--fo"], ["--for", "--format"]),
    (["ridepulse", "preview", "--format", ""], ["table", "json", "html"]),
    (["ridepulse", "preview", "--format", "=", "h"], ["html"]),
    (["ridepulse", "preview", "--format", "="], ["table", "json", "html"]),
    (["ridepulse", "trigger", "--log-level", ""], levels),
    (["ridepulse", "trigger", "--ride", ""], []),
    (["ridepulse", "channels", "re"], ["read", "reconcile"]),
    (["ridepulse", "channels", "--app", "customer", "cr"], ["create"]),
    (["ridepulse", "channels", "--app", "=", "customer", "cr"], ["create"]),
    (["ridepulse", "channels", "read", "re"], []),
    (["ridepulse", "check", "/etc/ssl/c"], ["/etc/ssl/certs"]),
    (["ridepulse", "test", "/etc/ssl/c"], ["/etc/ssl/certs"]),
    (["ridepulse", "test", "x", "/etc/ssl/c"], ["/etc/ssl/certs"]),
    (["ridepulse", "nonsense", ""], []),
    (["ridepulse", "channels", "--", "re"], ["read", "reconcile"]),
    (["ridepulse", "channels", "--nosuch", "=", "x", "cr"], ["create"]),
    (["ridepulse", "channels", "--nosuch", "=", ""], []),
    (["ridepulse", "channels", "--nosuch", "="], []),
    (["ridepulse", "preview", "--diff", "/etc/ssl/c"], ["/etc/ssl/certs"]),
    (["ridepulse", "preview", "--diff", "=", "/etc/ssl/c"], ["/etc/ssl/certs"]),
  ]

  @Test(arguments: completions.indices)
  func `bash completes`(index: Int) throws {
    let (words, expected) = Self.completions[index]
    #expect(try bash(words) == expected, "\(words)")
  }

  @Test func `bash completes each command and each option`() throws {
    #expect(try bash(["ridepulse", ""]) == Commands.names + ["--help", "--version"])
    for form in Self.forms {
      let options = form.allOptions.map(\.name)
      #expect(try bash(["ridepulse", form.name, "-"]) == options, "\(form.name)")
    }
  }

  @Test func `fish completes what bash completes`() throws {
    let script = try made(["completions", "fish"], as: "completion")
    defer { try? FileManager.default.removeItem(atPath: script) }
    let offered = { (line: String) in
      let result = try Command.run(
        "/usr/bin/fish",
        [
          "--no-config", "--features", "qmark-noglob", "-c",
          "source \(script); complete -C '\(line)'",
        ],
        Self.environment)
      #expect(result.errors == "")
      return Set(
        result.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }.map(String.init))
    }
    #expect(try offered("ridepulse ") == Set(Commands.names + ["--help", "--version"]))
    #expect(try offered("ridepulse preview --format ") == ["table", "json", "html"])
    #expect(try offered("ridepulse preview --format=h") == ["--format=html"])
    #expect(try offered("ridepulse check --schedules=/etc/ssl/c").isEmpty)
    #expect(try offered("ridepulse preview --diff=/etc/ssl/c") == ["--diff=/etc/ssl/certs/"])
    for form in Self.forms {
      let options = Set(form.allOptions.map(\.name))
      #expect(try offered("ridepulse \(form.name) --") == options, "\(form.name)")
    }
  }

  @Test func `zsh completes what bash completes`() throws {
    let script = try made(["completions", "zsh"], as: "completion")
    defer { try? FileManager.default.removeItem(atPath: script) }
    // zsh's terminal sometimes loses input that arrives too early on a busy machine.
    func offers(_ line: String, _ words: Set<String>) throws -> Bool {
      try (0..<5).contains { _ in try zsh(line, script) == words }
    }
    #expect(try offers("ridepulse ", Set(Commands.names + ["--help", "--version"])))
    #expect(try offers("ridepulse preview --format ", ["table", "json", "html"]))
    #expect(try offers("ridepulse channels cr", ["create"]))
    for form in Self.forms {
      #expect(try offers("ridepulse \(form.name) --", Set(form.allOptions.map(\.name))))
    }
  }

  /// Returns what zsh offers. It completes only at a terminal, so it gets one and prints its
  /// offers.
  private func zsh(_ line: String, _ script: String) throws -> Set<String> {
    let program = """
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'PROMPT=; autoload -U compinit; compinit -D -u; source \(script)'
      zpty -w shell 'compadd() {
        [[ $* == *-[OAD]\\ * ]] && { builtin compadd "$@"; return }
        local -a offered; builtin compadd -O offered "$@"; print -r -- "<$offered>"
      }'
      zpty -w shell 'bindkey "^I" complete-word; print BE""GIN'
      zpty -r -m shell line '*BEGIN*'
      zpty -w -n shell $'\(line)\\t\\x15'
      zpty -w shell 'print E""ND; exit'
      zpty -r -m shell line '*END*'
      print -r -- $line
      """
    let result = try Command.run(
      "/usr/bin/timeout", ["240", "zsh", "-f", "-c", program], Self.environment)
    return Set(
      result.output.matches(of: /<([^<>]*)>/).flatMap { $0.output.1.split(separator: " ") }
        .map(String.init))
  }

  @Test func `The man page names each command and option, without roff warnings`() throws {
    let page = try made(["man"], as: "man")
    defer { try? FileManager.default.removeItem(atPath: page) }
    let result = try Command.run(
      "/usr/bin/groff", ["-man", "-ww", "-Tascii", "-P-cbou", "-rLL=200n", page])
    #expect(result.status == 0)
    #expect(result.errors == "")
    let parts = result.output.components(separatedBy: "\n   ridepulse ")
    for form in Self.forms {
      let own = parts.first { $0.hasPrefix(form.name + "\n") } ?? ""
      #expect(own.contains(form.summary), "\(form.name)")
      for option in form.options {
        #expect(own.contains("\n       \(option.name)"), "\(form.name) \(option.name)")
        #expect(own.contains(option.help), "\(form.name) \(option.name)")
      }
      for operand in form.operands { #expect(own.contains("\n       \(operand.name)")) }
    }
    for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES"] {
      #expect(result.output.contains("\n\(section)\n"))
    }
  }

  @Test func `Characters special to roff are escaped`() {
    var page = Roff(title: "T", section: 1, source: "s")
    page.text(".SH and \\fB, a 'quote' … and --an-option")
    #expect(page.description.hasSuffix("\n\\&.SH and \\efB, a 'quote' ... and \\-\\-an\\-option"))
  }

  /// Compares the man page's list, the table of docs/configuration.md and the package's environment
  /// file.
  @Test func `All lists of variables have the same ones`() throws {
    let root = URL(fileURLWithPath: Stage.rules).deletingLastPathComponent()
    let text = { (path: String) in
      try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
    let known = EnvironmentList.all.flatMap(\.names).sorted()
    let table = try text("docs/configuration.md").split(separator: "\n").filter {
      $0.contains(/^\| `[A-Z_]{6,}`/)
    }
    let documented = table.flatMap { row in
      row.split(separator: "|")[0].matches(of: /`([A-Z_]+)`/).map { String($0.output.1) }
    }
    #expect(documented.sorted() == known)
    let lines = try text("scripts/debian/ridepulse.env").split(separator: "\n")
    let variables = lines.compactMap {
      $0.wholeMatch(of: /#?([A-Z_]+)=.*/).map { String($0.output.1) }
    }
    let own = known.filter { !$0.hasPrefix("NOTIFY") && !$0.hasPrefix("WATCHDOG") }
    #expect(variables.sorted() == own)
  }

  @Test func `The package's commands exist, and the help does not list them`() throws {
    let help = try Command.ridepulse(["--help"]).output
    for command in Commands.hidden {
      #expect(!help.contains("\n  \(command.form.name) "))
      #expect(try Command.ridepulse([command.form.name, "--help"]).status == 0)
    }
    #expect(try Command.ridepulse(["--version"]).output == "ridepulse \(Version.text)\n")
    let unknown = try Command.ridepulse(["completions", "fishy"])
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("did you mean fish?"))
  }
}
