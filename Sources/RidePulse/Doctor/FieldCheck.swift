import Base
import PostgresStore
import RideCore
import RuleFiles

/// Counts the phones whose app is older than a field of its card: until they are few, the old field stays.
enum FieldCheck {
  /// Returns a result for each version of a type's contract that added fields; nothing if none did.
  static func results(
    _ versions: Probe<[AppVersionCount]>, _ rules: RuleSet?, _ releases: [String: ContractReleases],
    problem: String? = nil
  ) -> [CheckResult] {
    let later = (rules?.contracts ?? []).filter { !$0.laterFields.isEmpty }
    guard let rules, !later.isEmpty else { return [] }
    if let problem {
      return [.warning("fields", "contract.lock can't be read: \(problem)", "ridepulse check")]
    }
    return versions.judged("fields", else: "the versions of apps can't be counted") { versions in
      later.flatMap { contract in
        let apps = Set(rules.cards(of: contract.typeName).map(\.app))
        let phones = versions.filter { apps.contains($0.app) }
        return contract.laterFields.sorted { $0.key < $1.key }.map { since, fields in
          CheckResult.ok(
            "fields \(contract.typeName)",
            text(
              fields, since: since, releases[contract.typeName]?.first[since] ?? [:], phones,
              of: DatabaseCheck.list(apps.map(\.rawValue).sorted())))
        }
      }
    }
  }

  private static func text(
    _ fields: [String], since: Int, _ first: [Platform: AppVersion], _ phones: [AppVersionCount],
    of apps: String
  ) -> String {
    let list = DatabaseCheck.list(fields)
    if first.isEmpty {
      return "\(list), since \(since): name the first app that decodes it in contract.lock under "
        + "releases, and the phones without it are counted"
    }
    var (older, known, unknown) = (Int64(0), Int64(0), Int64(0))
    for count in phones {
      guard let release = first[count.platform] else { continue }
      guard let version = count.version.flatMap(AppVersion.init) else {
        unknown += count.phones
        continue
      }
      known += count.phones
      if version < release { older += count.phones }
    }
    let releases = first.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key.rawValue) \($0.value.text)" }.joined(separator: ", ")
    let rest =
      " \(list): since \(since), \(releases)"
      + (unknown > 0
        ? "; \(counted(Int(unknown), "phone reports", "phones report")) no version" : "")
    if known == 0 { return "no phone of \(apps) reports its app_version;" + rest }
    if older == 0 {
      let phones = counted(Int(known), "phone", "phones")
      return "\(phones) of \(apps), each with an app that has" + rest
    }
    let share = (older * 100 + known / 2) / known
    return "\(share) % of the phones of \(apps) (\(older) of \(known)) have an app without" + rest
  }
}
