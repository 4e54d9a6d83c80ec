import Base
import PostgresStore
import RideCore
import RuleFiles

/// `ridepulse pause`: lets what a rule, an event or an app would send wait.
enum PauseCommand: Command {
  static let form = CommandForm(
    name: "pause", summary: "let what a rule, an event or an app would send wait",
    operands: PauseSubject.operands,
    options: [
      .init(name: "--for", value: "DURATION", help: "how long, such as 30m, up to 7d (1h)"),
      .init(name: "--reason", value: "TEXT", help: "why, for the ledger, status and doctor"),
      .schedules, .format,
    ],
    notes: [
      "Nodes follow it within 2 s. Nothing is lost: what waits is decided again when the pause ends, by the",
      "ride as it is then, and expires as its rule states, with a ledger row that names the pause. Pausing",
      "it again changes time and reason. docs/oncall.md has what it means for cards, emit and escalate.",
    ])

  private static let longest: Duration = .seconds(7 * 86_400)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let subject = PauseSubject(arguments)
    let length = try arguments.duration("--for") ?? .seconds(3600)
    if length > longest { throw arguments.error("--for \(length.rideText) is longer than 7d") }
    if subject.name.isEmpty { throw arguments.error("NAME is empty") }
    let pauses = try await Database.with(context.environment, name: "pause") { session in
      try await Database.requireSchema(session)
      _ = try await PauseTable.pause(
        subject.kind, subject.name, for: length, arguments.value("--reason"), session)
      return try await PauseTable.read(session)
    }
    if let warning = subject.warning(arguments.value("--schedules"), context.environment) {
      Terminal.printError("ridepulse pause: \(warning)")
    }
    let pause = pauses.all.first { $0.kind == subject.kind && $0.name == subject.name }
    switch arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print("paused \(Escape.line(pause?.text ?? subject.name))")
      Terminal.print("nodes follow within 2 s; to end it: ridepulse resume \(subject.words)")
    case .json: Terminal.print(json: .object(["paused": pause?.json ?? .null]))
    }
    return .done
  }
}

/// `ridepulse resume`: ends a pause.
enum ResumeCommand: Command {
  static let form = CommandForm(
    name: "resume", summary: "end a pause: what waits is decided again",
    operands: PauseSubject.operands, options: [.format],
    notes: ["What waits is sent within seconds if it is still valid and its rule still holds."])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let subject = PauseSubject(context.arguments)
    let (ended, others) = try await Database.with(context.environment, name: "resume") { session in
      try await Database.requireSchema(session)
      let ended = try await PauseTable.resume(subject.kind, subject.name, session)
      return (ended, try await PauseTable.read(session))
    }
    guard let ended else {
      let list = others.all.map(\.subject).joined(separator: ", ")
      throw CommandFailure(
        "\(subject.kind.rawValue) \(subject.name) is not paused"
          + suggestion(for: subject.name, among: others.all.map(\.name))
          + "; paused: \(list.isEmpty ? "nothing" : list)")
    }
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      let rides = counted(Int(ended.rides), "ride")
      Terminal.print("resumed; it was \(Escape.line(ended.pause.text))")
      Terminal.print("\(rides) that waited \(ended.rides == 1 ? "is" : "are") due in 3 s")
    case .json:
      Terminal.print(
        json: .object(["was_paused": ended.pause.json, "rides": .integer(ended.rides)]))
    }
    return .done
  }
}

/// What `pause` and `resume` are about.
private struct PauseSubject {
  let kind: Pause.Kind
  let name: String

  static let operands: [CommandForm.Operand] = [
    .choice("KIND", CommandForm.words(Pause.Kind.self)),
    .init(name: "NAME", help: "the rule, event or app, as the rule files name it"),
  ]

  init(_ arguments: Arguments) {
    kind = Pause.Kind(rawValue: arguments.operands[0]) ?? .rule
    name = arguments.operands[1]
  }

  /// As a shell reads it.
  var words: String { "\(kind.rawValue) \(ShellText.word(name))" }

  /// Warns if no rule file of this machine has the name: the nodes may have other files.
  func warning(_ directory: String?, _ environment: [String: String]) -> String? {
    let path = RuleDirectoryChoice.path(directory, environment)
    guard case .success(let loaded) = RuleDirectory.load(path) else {
      return "\(path) can't be read, so the name was not compared with the rules"
    }
    let rules = loaded.ruleSet
    let known =
      switch kind {
      case .rule: rules.rules.map(\.name)
      case .event: rules.knownEvents.sorted()
      case .app: rules.apps.map(\.rawValue)
      }
    if known.contains(name) { return nil }
    return
      "no rule file in \(path) has \(kind.rawValue) \(name)\(suggestion(for: name, among: known))"
      + " It is paused all the same, because the nodes may have other files; "
      + "to end that: ridepulse resume \(words)"
  }
}
