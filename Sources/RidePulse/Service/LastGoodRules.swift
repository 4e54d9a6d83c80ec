import Base
import PostgresStore
import RideCore
import RuleFiles

/// Chooses the rules of a service that starts: those of its directories, or in place of those that
/// have problems, the last good ones of the database, or of the cell whose are the newest.
struct LastGoodRules {
  let directories: RuleDirectories
  /// The cells whose databases may hold them.
  let cells: [Cell]
  /// How long to wait for the databases if they are needed.
  let limit: Duration
  let logOf: @Sendable (Cell) -> Log

  private struct Stored {
    var release: RuleRelease
    /// Nil if no part of them is of the database.
    var storedAt: Timestamp?

    /// Files that were corrected in the meantime are newer than stored ones.
    func isOlder(than other: Stored) -> Bool {
      guard let storedAt else { return false }
      return other.storedAt.map { storedAt < $0 } ?? true
    }
  }

  /// What the database of a cell has; nil if it has nothing that can be used.
  private typealias Answer = Result<Stored?, any Error>

  /// - Throws: `CommandFailure` with every problem, one per line, if no good rules are stored.
  func release(
    _ log: Log, onWait: @escaping @Sendable (String) -> Void
  ) async throws -> RuleRelease {
    let failed: RuleProblems
    switch directories.load() {
    case .success(let release): return release
    case .failure(let problems): failed = problems
    }
    // Before the wait for the database.
    for problem in failed.problems {
      log(.error, .rulesRefused, ["problem": "\(problem)"])
    }
    let answers = await answers(onWait)
    let found = zip(cells, answers).compactMap { cell, answer in
      (try? answer.get()).map { (cell: cell, rules: $0) }
    }
    guard let newest = found.max(by: { $0.rules.isOlder(than: $1.rules) }) else {
      throw CommandFailure("\(failure(failed))\n\(reasons(answers))")
    }
    var release = newest.rules.release
    // The files may have been corrected while this waited.
    guard release.isLastGood || release.trial?.isLastGood == true else { return release }
    release.refused = failed
    logOf(newest.cell)(
      .error, .lastGoodRulesUsed,
      [
        "digest": release.revision.start,
        "fix": "ridepulse check names the problems; then send SIGHUP or POST /v1/reload",
      ])
    return release
  }

  /// Returns the answer of each cell.
  private func answers(_ onWait: @escaping @Sendable (String) -> Void) async -> [Answer] {
    // A cell that is down delays no start for which another one has rules.
    if cells.count > 1 {
      let first = await answers(within: .zero) { _ in }
      if first.contains(where: { (try? $0.get()) != nil }) { return first }
    }
    return await answers(within: limit, onWait)
  }

  private func answers(
    within limit: Duration, _ onWait: @escaping @Sendable (String) -> Void
  ) async -> [Answer] {
    await cells.concurrentMap { cell in
      var stored: Stored?
      do {
        _ = try await ServiceStart(log: logOf(cell)).run(
          limit: limit, onWait: { onWait(cell.line($0)) }
        ) { stored = try await self.stored(in: cell) }
        return .success(stored)
      } catch {
        return .failure(error)
      }
    }
  }

  /// Returns why no cell has rules to start with.
  private func reasons(_ answers: [Answer]) -> String {
    zip(cells, answers).map { cell, answer in
      switch answer {
      case .success: cell.line("no good rules that this version can use are stored")
      case .failure(let error): cell.line("the last good rules can't be read: \(error)")
      }
    }.joined(separator: "\n")
  }

  private func failure(_ problems: RuleProblems) -> CommandFailure {
    RuleDirectoryChoice.failure(problems, of: directories.main)
  }

  /// Returns the files that have no problem, and the newest stored ones in place of the others.
  private func stored(in cell: Cell) async throws -> Stored? {
    let session = try PostgresSession(
      conninfo: cell.conninfo, schema: cell.schema, applicationName: "ridepulse rules")
    return try await withCleanup({ await session.close() }) {
      try await session.connect()
      try await Database.requireSchema(session)
      let archive = RuleSetArchive(session: session)
      let source = RuleSource(of: directories.main)
      let loaded = try? source.load().get()
      var main = loaded.map { (rules: $0, source: source) }
      if main == nil { main = try await newest(archive, .all, directories.main) }
      guard let main else { return nil }
      var trial = try? directories.trial(nextTo: main.rules).get()
      if trial == nil, let second = directories.second,
        let newest = try await newest(archive, .share, second.directory)
      {
        trial = try? directories.trial(newest.source, for: second.share, nextTo: main.rules).get()
        trial?.isLastGood = true
      }
      // Without its rules, the rides of the share would be decided by others than on other nodes.
      if trial == nil, directories.second != nil { return nil }
      var release = RuleRelease(main.rules, from: main.source, trial: trial)
      release.isLastGood = loaded == nil
      var storedAt: Timestamp?
      if release.isLastGood {
        storedAt = try await archive.storedAt(release.rules.digest, for: .all)
      } else if let trial, trial.isLastGood {
        storedAt = try await archive.storedAt(trial.rules.digest, for: .share)
      }
      return Stored(release: release, storedAt: storedAt)
    }
  }

  /// Returns the newest rules that this version of the program can use.
  private func newest(
    _ archive: RuleSetArchive, _ rides: ArchivedRules.Rides, _ directory: String
  ) async throws -> (rules: LoadedRules, source: RuleSource)? {
    for digest in try await archive.digests(of: rides) {
      guard let archived = try await archive.rules(of: digest) else { continue }
      let files = archived.files.map { RuleSource.StoredFile(name: $0.name, text: $0.text) }
      let source = RuleSource(stored: files, of: directory)
      // A row that somebody changed is not what a node loaded.
      if case .success(let rules) = source.load(), rules.ruleSet.digest == digest {
        return (rules, source)
      }
    }
    return nil
  }
}
