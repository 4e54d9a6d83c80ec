import Base
import PostgresStore
import RideCore
import RuleFiles

/// Chooses the rules of a service that starts: those of its directories, or in place of those that
/// have problems, the last good ones of the database.
struct LastGoodRules {
  let directories: RuleDirectories
  /// The cells whose databases may hold them.
  let cells: [Cell]
  /// How long to wait for the database if it is needed.
  let limit: Duration
  let log: Log

  /// - Throws: `CommandFailure` with every problem, one per line, if no good rules are stored.
  func release(onWait: (String) -> Void) async throws -> RuleRelease {
    let failed: RuleProblems
    switch directories.load() {
    case .success(let release): return release
    case .failure(let problems): failed = problems
    }
    // Before the wait for the database.
    for problem in failed.problems {
      log(.error, .rulesRefused, ["problem": "\(problem)"])
    }
    var release: RuleRelease?
    for (index, cell) in cells.enumerated() where release == nil {
      do {
        _ = try await ServiceStart(log: log).run(limit: limit / cells.count, onWait: onWait) {
          release = try await stored(in: cell)
        }
      } catch  where index == cells.count - 1 {
        throw CommandFailure("\(failure(failed))\nthe last good rules can't be read: \(error)")
      } catch {
        continue
      }
    }
    guard var release else {
      throw CommandFailure("\(failure(failed))\nno good rules that this version can use are stored")
    }
    // The files may have been corrected while this waited.
    guard release.isLastGood || release.trial?.isLastGood == true else { return release }
    release.refused = failed
    log(
      .error, .lastGoodRulesUsed,
      [
        "digest": release.revision.start,
        "fix": "ridepulse check names the problems; then send SIGHUP or POST /v1/reload",
      ])
    return release
  }

  private func failure(_ problems: RuleProblems) -> CommandFailure {
    RuleDirectoryChoice.failure(problems, of: directories.main)
  }

  /// Returns the files that have no problem, and the newest stored ones in place of the others.
  private func stored(in cell: Cell) async throws -> RuleRelease? {
    let session = try PostgresSession(
      conninfo: cell.conninfo, schema: cell.schema, applicationName: "ridepulse rules")
    return try await withCleanup({ await session.close() }) {
      try await session.connect()
      try await Database.requireSchema(session)
      let archive = RuleSetArchive(session: session)
      let source = RuleSource(of: directories.main)
      let loaded = try? source.load().get()
      var main = loaded.map { ($0, source) }
      if main == nil { main = try await newest(archive, .all, directories.main) }
      guard let main else { return nil }
      var trial = try? directories.trial(nextTo: main.0).get()
      if trial == nil, let second = directories.second,
        let (_, source) = try await newest(archive, .share, second.directory)
      {
        trial = try? directories.trial(source, for: second.share, nextTo: main.0).get()
        trial?.isLastGood = true
      }
      // Without its rules, the rides of the share would be decided by others than on other nodes.
      if trial == nil, directories.second != nil { return nil }
      var release = RuleRelease(main.0, from: main.1, trial: trial)
      release.isLastGood = loaded == nil
      return release
    }
  }

  /// Returns the newest rules that this version of the program can use.
  private func newest(
    _ archive: RuleSetArchive, _ rides: ArchivedRules.Rides, _ directory: String
  ) async throws -> (LoadedRules, RuleSource)? {
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
