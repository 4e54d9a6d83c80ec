import Base
import RideCore

/// Checks the databases of all cells, and APNs and FCM once.
struct DoctorOfCells {
  let cells: [Cell]
  let context: CommandContext

  /// The number of databases that are examined at one time: a server that hangs delays few others.
  private static let width = 8

  func run() async -> ExitStatus {
    let rules = RuleState(context.environment)
    let databases = await databases(rules)
    let services = await PushServiceState(context.environment, rules, databases)
    let shared = Diagnosis(results: services.results)
    Doctor.print(shared, context)
    var statuses = [shared.status]
    for (cell, database) in zip(cells, databases) {
      let environment = cell.environment(context.environment)
      await cell.with {
        let diagnosis = Diagnosis(
          results: DatabaseCheck.results(database)
            + Doctor.results(database, rules, services, environment))
        Doctor.print(diagnosis, context)
        statuses.append(diagnosis.status)
      }
    }
    return EachCell.worst(statuses)
  }

  private func databases(_ rules: RuleState) async -> [DatabaseState] {
    let environment = context.environment
    return await cells.concurrentMap(atMost: Self.width) { cell in
      await cell.with { await Doctor.databaseState(cell.environment(environment), rules) }
    }
  }
}
