import Foundation
import RideCore
import SystemSupport

/// The entry point of the command line: finds the command, runs it, and returns its exit status.
@main
enum RidePulseMain {
  static func main() async {
    if let problem = OpenFileLimit.problem() {
      Terminal.printError("ridepulse: \(problem)")
      _exit(ExitStatus.failed.rawValue)
    }
    ProcessSecrecy.forbidMemoryDumps()
    // Before a second thread allocates. Two: the threads of a service rarely allocate at one time.
    ProcessMemory.limitHeaps(to: 2)
    ProgramConstants.protect()
    let keyLogFile = ProcessSecrecy.forgetKeyLogFile()
    // A write to a closed pipe must return an error and not end the process.
    signal(SIGPIPE, SIG_IGN)
    if keyLogFile != nil {
      Terminal.printError("ridepulse: SSLKEYLOGFILE is ignored: TLS secrets are never written")
    }
    let words = Array(CommandLine.arguments.dropFirst())
    let status = await run(words, ProcessInfo.processInfo.environment).rawValue
    fflush(nil)
    // `_exit` skips exit handlers: OpenSSL's would free memory that a call to APNs on another
    // thread still uses.
    _exit(status)
  }

  static func run(_ words: [String], _ environment: [String: String]) async -> ExitStatus {
    do {
      return try await command(words, environment)
    } catch let error as UsageError {
      Terminal.printError(error.description)
      return .usage
    } catch {
      Terminal.printError("ridepulse: \(error)")
      return .failed
    }
  }

  private static func command(
    _ words: [String], _ environment: [String: String]
  ) async throws -> ExitStatus {
    guard let word = words.first else {
      Terminal.printError(Commands.help)
      return .usage
    }
    if ["--help", "help", "-h"].contains(word) {
      Terminal.print(try Commands.help(for: Array(words.dropFirst())))
      return .done
    }
    if word == "--version" {
      Terminal.print(Version.line())
      return .done
    }
    guard let command = Commands.named(word) else {
      throw UsageError(unknownCommand: word)
    }
    let arguments = try Arguments(Array(words.dropFirst()), of: command.form)
    if arguments.has("--help") {
      Terminal.print(command.form.help)
      return .done
    }
    let log = LogWriter(arguments, environment)
    do {
      var context = CommandContext(arguments: arguments, environment: environment, log: log)
      guard let cell = try EachCell.chosen(&context) else { return try await command.run(context) }
      return try await cell.with { try await command.run(context) }
    } catch let error as UsageError where log.format == .text {
      throw error
    } catch let error as UsageError {
      Terminal.printError(log.lastLine(error.description))
      return .usage
    } catch {
      Terminal.printError(log.lastLine(MissingGrant.text(error, of: command.form)))
      return (error as? CommandFailure)?.status ?? .failed
    }
  }
}
