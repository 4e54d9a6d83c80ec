import Base
import Orchestrator
import PostgresStore
import RideCore
import RuleFiles
import Synchronization

/// The rules that a service decides with. Stores their files for nodes that start with bad ones, and
/// compares them with the rules of the other nodes.
final class RulesInUse: Sendable {
  private struct State {
    var release: RuleRelease
    /// The digests of the rules that need not be stored any more.
    var stored: [ArchivedRules.Rides: String] = [:]
    var difference = RuleDifference()
  }

  private let pool: SessionPool
  private let node: String
  private let log: Log
  private let state: Mutex<State>
  /// Signals that the rules, or the problem of those that were refused, are others.
  let signal = AsyncSignal()

  init(_ release: RuleRelease, pool: SessionPool, node: String, log: Log) {
    (self.pool, self.node, self.log) = (pool, node, log)
    state = Mutex(State(release: release))
  }

  var release: RuleRelease { state.withLock { $0.release } }

  func use(_ release: RuleRelease) {
    state.withLock { $0.release = release }
    signal.notify()
  }

  /// Records that newer files were refused.
  func refuse(_ problems: RuleProblems) {
    state.withLock { $0.release.refused = problems }
    signal.notify()
  }

  /// What an operator must know about the rules of a service that may be ready.
  var notes: [String] {
    let (release, nodes) = state.withLock { ($0.release, $0.difference.nodes) }
    return release.notes + (nodes.isEmpty ? [] : ["rules: the nodes differ: \(nodes.rulesText)"])
  }

  /// Reports the rules, compares them, and stores their files.
  ///
  /// - Returns: False until this node has claimed, because only then others see what it reports.
  func check() async throws -> Bool {
    let release = release
    let (isKnown, nodes) = try await pool.with(.short) { [node] session in
      try await LivingState.report(
        node: node, revision: release.revision, share: release.trial?.text,
        problem: release.problem, session)
    }
    compare(LivingState.ruleAgreement(of: nodes))
    if let source = release.source, !release.isLastGood {
      try await store(source, release.rules.digest, for: .all)
    }
    if let trial = release.trial, !trial.isLastGood {
      try await store(trial.source, trial.rules.digest, for: .share)
    }
    return isKnown
  }

  private func compare(_ agreement: LivingState.RuleAgreement) {
    switch state.withLock({ $0.difference.follow(agreement) }) {
    case nil: break
    case .began(let nodes):
      log(
        .warning, .nodesDiffer,
        [
          "nodes": nodes.rulesText,
          "fix": "deploy the same files to each node, and reload the rules there",
        ])
    case .ended: log(.info, .nodesAgree)
    }
  }

  /// Stores files that were read from the directory, once.
  private func store(
    _ source: RuleSource, _ digest: String, for rides: ArchivedRules.Rides
  ) async throws {
    if state.withLock({ $0.stored[rides] == digest }) { return }
    if source.size > ArchivedRules.sizeLimit {
      log(.error, .rulesTooLarge, ["bytes": source.size, "limit": ArchivedRules.sizeLimit])
    } else {
      let files = source.stored.map { ArchivedRules.File(name: $0.name, text: $0.text) }
      try await pool.with(.short) { session in
        try await RuleSetArchive(session: session)
          .store(
            ArchivedRules(digest: digest, files: files), for: rides, version: Version.text)
      }
    }
    state.withLock { $0.stored[rides] = digest }
  }
}

extension [LivingState.Node] {
  /// `HOST RULES`, separated by commas.
  var rulesText: String {
    map { node in
      let share = node.rulesShare.map { " + \($0)" } ?? ""
      return "\(node.host) \((node.rules ?? "?").prefix(Revision.startLength))\(share)"
    }.joined(separator: ", ")
  }
}
