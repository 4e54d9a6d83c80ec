/// `ridepulse man`: prints the man page, generated from the same forms as the help.
enum ManPage: Command {
  static let form = CommandForm(
    name: "man", summary: "print the man page as roff; packages install it")

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    Terminal.print(text(Commands.all.map { $0.form }))
    return .done
  }

  static func text(_ forms: [CommandForm]) -> String {
    var page = Roff(title: "RIDEPULSE", section: 1, source: "ridepulse \(Version.text)")
    page.section("NAME")
    page.raw("ridepulse \\- tells a ride service's phones what they must know")
    page.section("SYNOPSIS")
    for form in forms { page.synopsis(form.usage) }
    page.section("DESCRIPTION")
    page.text(
      "\(Commands.summary) It reads ride state from Postgres, decides by rule files what to say to "
        + "whom and how long it is true, and sends it through APNs.")
    page.section("COMMANDS")
    for form in forms { describe(form, in: &page) }
    page.section("COMMON OPTIONS")
    for option in CommandForm.common { item(option, in: &page) }
    page.section("EXIT STATUS")
    for (status, meaning) in statuses { page.item("\(status.rawValue)", meaning) }
    page.section("ENVIRONMENT")
    for variable in EnvironmentList.all {
      page.item(variable.names.joined(separator: ", "), variable.meaning)
    }
    page.section("FILES")
    for (path, meaning) in files { page.item(path, meaning) }
    page.section("SEE ALSO")
    page.text("systemctl(1), psql(1), systemd.service(5); /usr/share/doc/ridepulse")
    return page.description
  }

  private static func describe(_ form: CommandForm, in page: inout Roff) {
    page.subsection("ridepulse \(form.name)")
    page.text(form.summary)
    for operand in form.operands { page.item(operand.name, operand.help) }
    for option in form.options { item(option, in: &page) }
    if !form.notes.isEmpty { page.paragraph(form.notes.joined(separator: " ")) }
  }

  private static func item(_ option: CommandForm.Option, in page: inout Roff) {
    page.item(option.name, value: option.value, option.help)
  }

  private static let statuses: [(ExitStatus, String)] = [
    (.done, "done"), (.failed, "failed; standard error says why, in one line"),
    (.foundProblems, "it looked, and found something: a problem, a difference, something to clear"),
    (.usage, "wrong usage"),
  ]

  /// The paths that the package installs.
  private static let files = [
    ("/etc/ridepulse/ridepulse.env", "the service's environment"),
    ("/etc/ridepulse/schedules", "its rule files"),
    ("ridepulse.service", "the service, for systemctl"),
    ("ridepulse-once.timer", "serve --once every minute, for a machine where nothing may stay"),
  ]
}

/// Builds a man page with the macros of man(7).
struct Roff: CustomStringConvertible {
  private var lines: [String]

  /// - Parameter source: The text of the page footer.
  init(title: String, section: Int, source: String) {
    lines = [
      ".\\\" Made by `ridepulse man`.",
      ".TH \(title) \(section) \"\" \"\(source)\" \"User Commands\"",
      // Shell words must not be hyphenated or stretched.
      ".nh", ".ad l",
    ]
  }

  /// The page so far.
  var description: String { lines.joined(separator: "\n") }

  mutating func section(_ title: String) { lines.append(".SH \(title)") }

  mutating func subsection(_ title: String) { lines.append(".SS \(Self.plain(title))") }

  /// Appends a line that is already roff.
  mutating func raw(_ line: String) { lines.append(line) }

  mutating func text(_ text: String) { lines.append(Self.line(text)) }

  mutating func paragraph(_ text: String) { lines += [".PP", Self.line(text)] }

  /// Appends a command line with a hanging indent.
  mutating func synopsis(_ usage: String) {
    lines += [".HP", Self.line(usage), ".br"]
  }

  /// Appends a word in bold, its value in italics, and its meaning.
  mutating func item(_ word: String, value: String? = nil, _ meaning: String) {
    let value = value.map { " \\fI\(Self.plain($0))\\fR" } ?? ""
    lines += [".TP", "\\fB\(Self.plain(word))\\fR\(value)", Self.line(meaning)]
  }

  /// Returns a text as an input line, escaping a leading dot or apostrophe, which would be a
  /// request.
  private static func line(_ text: String) -> String {
    let text = plain(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// Escapes the characters that are special in roff, and spells out those that an ASCII terminal
  /// lacks.
  static func plain(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "…": "..."
      case "’": "'"
      default: String(character)
      }
    }.joined()
  }
}

/// Lists the environment variables of the commands for the man page. A test compares it with the
/// table in docs/configuration.md and the package's environment file.
enum EnvironmentList {
  static let all: [(names: [String], meaning: String)] = [
    (
      ["DATABASE_URL"],
      "libpq connection string or URL; without it libpq's own PG* variables"
    ),
    (["APNS_KEY_ID", "APNS_TEAM_ID"], "ten characters each, as Apple shows them"),
    (["APNS_PRIVATE_KEY_PATH"], "the .p8 signing key"),
    (
      ["APNS_SANDBOX"],
      "true: phones whose row names no environment are sandbox ones (default: production)"
    ),
    (
      ["APNS_CUSTOMER_BUNDLE_ID", "APNS_DRIVER_BUNDLE_ID"],
      "topics; APNS_<APP>_BUNDLE_ID adds an app of any other name"
    ),
    (
      ["APNS_CUSTOMER_WIDGET_BUNDLE_ID", "APNS_DRIVER_WIDGET_BUNDLE_ID"],
      "only where set, the base of the topic of an app's cards instead of its bundle ID; "
        + "Apple wants the app's"
    ),
    (
      ["APNS_PRODUCTION_URL", "APNS_SANDBOX_URL"],
      "other endpoints than Apple's: https://host:port"
    ),
    (
      ["APNS_PRODUCTION_CHANNELS_URL", "APNS_SANDBOX_CHANNELS_URL"],
      "where channels are managed, if not at Apple's"
    ),
    (
      ["APNS_PRODUCTION_BROADCAST_URL", "APNS_SANDBOX_BROADCAST_URL"],
      "where broadcasts go, if not where the environment's pushes go"
    ),
    (["APNS_CA_FILE"], "a further CA to trust (PEM), beside the system's"),
    (
      ["RIDEPULSE_LISTEN"],
      "off: serve polls every 2 s, and no transaction of the app notifies it (default: on)"
    ),
    (["RIDEPULSE_SCHEDULES"], "rule directory (default: schedules)"),
    (
      ["RIDEPULSE_ADMIN"],
      "address of the admin server (default: 127.0.0.1:9464), or off"
    ),
    (
      ["RIDEPULSE_ADMIN_TOKEN"],
      "what writing calls of the admin server must bring; without it they answer 403"
    ),
    (
      ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"],
      "set by systemd; serve tells it when it is ready, reloads, stops, and that it moves"
    ),
  ]
}
