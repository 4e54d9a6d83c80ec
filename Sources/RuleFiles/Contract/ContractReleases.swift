import Base
package import RideCore

/// The first app of each system that decodes a version of a card's contract: `releases` in
/// `contract.lock`. A team writes them; `generate` keeps them, and `doctor` counts by them.
package struct ContractReleases: Hashable, Sendable {
  package var first: [Int: [Platform: AppVersion]]

  package init(first: [Int: [Platform: AppVersion]] = [:]) { self.first = first }

  /// The lines of the file, below the type's name.
  var lines: [String] {
    if first.isEmpty { return [] }
    return ["  releases:"]
      + first.sorted { $0.key < $1.key }.map { since, versions in
        let apps = versions.sorted { $0.key.rawValue < $1.key.rawValue }.map { system, version in
          "\(system.rawValue): \(String(decoding: JSONValue.string(version.text).json, as: UTF8.self))"
        }
        return "    \(since): { \(apps.joined(separator: ", ")) }"
      }
  }
}

/// Decodes `releases`.
struct ReleaseDecoder {
  let diagnostics: Diagnostics

  /// - Parameter known: the versions that fields name with `since`.
  func releases(_ node: YAMLNode, known: Set<Int>) -> ContractReleases {
    var releases = ContractReleases()
    guard case .mapping(let pairs) = node.kind else {
      diagnostics.reportType(
        of: node, for: "releases",
        expected: "a mapping of since to the first apps: 2: { ios: \"5.2.0\" }")
      return releases
    }
    for pair in pairs {
      guard let since = Int(pair.key), known.contains(since) else {
        diagnostics.report(
          pair.keyLocation, "releases has \(shortened(pair.key)), and no field has it as since",
          expected: known.isEmpty
            ? "no releases before a field with since: 2"
            : alternatives(known.sorted().map(String.init)))
        continue
      }
      releases.first[since] = apps(pair.value, "releases.\(since)")
    }
    return releases
  }

  private func apps(_ node: YAMLNode, _ title: String) -> [Platform: AppVersion] {
    guard case .mapping(let pairs) = node.kind else {
      diagnostics.reportType(
        of: node, for: title, expected: "a mapping of ios or android to a version")
      return [:]
    }
    var versions: [Platform: AppVersion] = [:]
    let systems = Platform.allCases.map(\.rawValue)
    for pair in pairs {
      guard let system = Platform(rawValue: pair.key) else {
        diagnostics.report(
          pair.keyLocation, "unknown key \"\(shortened(pair.key))\" in \(title)",
          expected: alternatives(systems), word: pair.key, among: systems)
        continue
      }
      guard let version = pair.value.string.flatMap(AppVersion.init) else {
        diagnostics.reportType(
          of: pair.value, for: "\(title).\(system.rawValue)",
          expected: "the app's version in quotes, such as \"5.2.0\"")
        continue
      }
      versions[system] = version
    }
    return versions
  }
}
