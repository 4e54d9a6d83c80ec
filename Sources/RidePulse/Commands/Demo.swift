/// placeholder
enum Demo: Command {
  static let form = CommandForm(name: "demo", summary: "x")
  static func run(_ context: CommandContext) async throws -> ExitStatus { .done }
}
