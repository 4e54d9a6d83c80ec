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
