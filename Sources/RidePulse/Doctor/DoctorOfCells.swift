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
    await withTaskGroup(of: (Int, DatabaseState).self) { group in
      var found: [(Int, DatabaseState)] = []
      for (index, cell) in cells.enumerated() {
        if index >= Self.width, let next = await group.next() { found.append(next) }
        let environment = cell.environment(context.environment)
        group.addTask {
          (index, await cell.with { await Doctor.databaseState(environment, rules) })
        }
      }
      for await state in group { found.append(state) }
      return found.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
