import PostgresStore
import RideCore

/// Judges rules and registered phones, and whether the bundle IDs match them.
enum RuleCheck {
  static func results(
    _ probes: RuleState, bundleIDs: [App: String], phones: Probe<[PhoneCount]>,
    standard: APNsEnvironment, androidApps: Set<App> = []
  ) -> [CheckResult] {
    let names = [App](probes.apps).sorted { $0.rawValue < $1.rawValue }
    let lacking = names.filter { bundleIDs[$0] == nil && !androidApps.contains($0) }
    var results = [rules("rule files", probes.first)]
    results += probes.second.map { [rules("rule files of the share", $0)] } ?? []
    if let problem = probes.receiverProblem {
      results.append(
        .failure("receivers", problem, "correct the variable or its file: serve does not start"))
    }
    results += probes.lackingReceivers.map { rule, receiver, variable in
      let value = variable.hasSuffix("_URL") ? "https://…" : "whsec_…"
      return .failure(
        "receiver \(receiver)", "the rule \(rule) posts to it, and \(variable) is not set",
        "export \(variable)=\(value)")
    }
    // If no bundle ID is set at all, another check already fails.
    if !bundleIDs.isEmpty {
      results += lacking.map { app in
        .failure(
          "topic \(app)", "rules address \(app), which has no bundle ID",
          APNsCheck.export(app))
      }
    }
    return results + self.phones(phones, apps: names, bundleIDs, standard)
  }

  private static func rules(_ name: String, _ files: RuleState.Files) -> CheckResult {
    let check = "ridepulse check \(ShellText.word(files.path))"
    if let first = files.problems.first {
      switch files.lack {
      case .variable: return .failure(name, first, "correct the variable, or unset it")
      case .directory:
        return .failure(
          name, first, "export RIDEPULSE_SCHEDULES=DIR, the directory of your rule files",
          "ridepulse check")
      case nil: break
      }
      let more = files.problems.count - 1
      return .failure(name, more == 0 ? first : "\(first) (and \(more) more)", check)
    }
    let share = files.share.map { " for \($0) of the rides" } ?? ""
    let what =
      "\(files.path): \(counted(files.rules, "rule")) in \(counted(files.files, "file"))\(share)"
    guard let first = files.advice.first else { return .ok(name, what) }
    let more = files.advice.count - 1
    return .warning(name, "\(what): \(first)\(more == 0 ? "" : " (and \(more) more)")", check)
  }

  private static func phones(
    _ phones: Probe<[PhoneCount]>, apps: [App], _ bundleIDs: [App: String],
    _ standard: APNsEnvironment
  ) -> [CheckResult] {
    switch phones {
    case .unasked: return [.skipped("phones", needs: "schema and rights")]
    case .failed(let why):
      return [.failure("phones", "they can't be counted: \(why)", "fix schema and rights first")]
    case .known(let counts):
      let all = Set(counts.map(\.app)).union(apps).sorted { $0.rawValue < $1.rawValue }
      if all.isEmpty { return [.warning("phones", "none is registered", register(.customer))] }
      return all.map { app in
        registered(app, counts.filter { $0.app == app }, bundleIDs[app] != nil, standard)
      }
    }
  }

  private static func registered(
    _ app: App, _ counts: [PhoneCount], _ hasBundleID: Bool, _ standard: APNsEnvironment
  ) -> CheckResult {
    let name = "phones \(app)"
    if counts.isEmpty {
      return .warning(name, "rules address \(app), and no phone is registered", register(app))
    }
    var live: [PushNetwork: Int64] = [:]
    for count in counts {
      live[network(of: count, standard), default: 0] += count.live
    }
    let words = PushNetwork.allCases.compactMap { network in
      live[network].map { "\($0) \(network.rawValue)" }
    }
    let what = words.joined(separator: ", ")
    // Those of Android phones are checked with their service account.
    if !hasBundleID, live.keys.contains(where: { $0 != .android }) {
      return .warning(
        name, "\(what), and \(app) has no bundle ID: nothing can be sent to them",
        APNsCheck.export(app))
    }
    let quarantined = counts.reduce(0) { $0 + $1.quarantined }
    if quarantined > 0 {
      let refusing = Set(counts.filter { $0.quarantined > 0 }.map(\.platform.service))
      return .warning(
        name,
        "\(what), \(quarantined) of them in quarantine: "
          + "\(refusing.sorted().joined(separator: " and ")) refused their tokens",
        "psql \"$DATABASE_URL\" -c 'select * from \(Database.schema).quarantine'; after a "
          + "configuration mistake: ridepulse unquarantine \(ShellText.word(app.rawValue))")
    }
    return .ok(name, what)
  }

  private static func network(
    of count: PhoneCount, _ standard: APNsEnvironment
  ) -> PushNetwork {
    count.platform == .android ? .android : PushNetwork(count.environment ?? standard)
  }

  private static func register(_ app: App) -> String {
    "from your backend: select \(Database.schema).register_device("
      + "\(SQLText.literal(app.rawValue)), 'OWNER', 'TOKEN')"
  }
}
