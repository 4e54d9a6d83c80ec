import Base
import RideCore

/// Runs a reading command in each cell of `RIDEPULSE_CELLS`, or once without that variable.
enum EachCell {
  /// Each cell's results are under its name; the worst exit status counts.
  ///
  /// - Throws: `NothingFound` if each cell throws it. Another error of a cell is printed, and the others
  ///   are still read.
  static func run(
    _ context: CommandContext, _ body: (CommandContext) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    guard let file = try CellFile(context.environment) else { return try await body(context) }
    var statuses: [ExitStatus] = []
    var absence: NothingFound?
    for cell in file.cells {
      var own = context
      own.environment = cell.environment(context.environment)
      do {
        statuses.append(try await cell.with { try await body(own) })
      } catch let error as UsageError {
        throw error
      } catch let nothing as NothingFound {
        absence = nothing
      } catch {
        let text = MissingGrant.text(error, of: context.arguments.form)
        Terminal.printError(context.log.lastLine(cell.line(text)))
        statuses.append(.failed)
      }
    }
    if statuses.isEmpty, let absence {
      throw NothingFound(description: "\(absence.description) (in no cell of \(file.names))")
    }
    return worst(statuses)
  }

  static func worst(_ statuses: [ExitStatus]) -> ExitStatus {
    [.failed, .foundProblems].first(where: statuses.contains) ?? .done
  }

  /// Sets the cell of the option `--cell`: the command works as if the environment named it alone.
  static func chosen(_ context: inout CommandContext) throws -> Cell? {
    guard let name = context.arguments.value("--cell") else { return nil }
    guard let file = try CellFile(context.environment) else {
      throw context.arguments.error(
        "--cell is for a file of cells, and \(CellFile.variable) is not set")
    }
    var cell = try file.cell(named: name)
    context.environment = cell.environment(context.environment)
    cell.name = nil
    return cell
  }
}

/// Nothing is recorded of what a command is asked for.
struct NothingFound: Error, CustomStringConvertible {
  let description: String
}
