struct CommandContext {
  var arguments: Arguments
  var environment: [String: String]
  var log: LogWriter
}
