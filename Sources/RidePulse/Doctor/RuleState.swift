import PostgresStore
import RideCore
import RuleFiles

/// The state of the rule files, as far as other settings must match them.
struct RuleState: Sendable {
  /// The files of one directory.
  struct Files: Sendable {
    /// What is missing besides a good file.
    enum Lack {
      /// The directory itself can't be used.
      case directory
      /// The variable that names the directory has another form.
      case variable
    }

    var path: String
    /// One line per problem; empty if the files can be used.
    var problems: [String] = []
    var lack: Lack?
    var rules = 0
    var files = 0
    /// The advice of `check`, one line each.
    var advice: [String] = []
    /// The share of the rides that they decide; nil if they decide all others.
    var share: String?
  }

  var first: Files
  /// Nil without `RIDEPULSE_RULES_SHARE`.
  var second: Files?
  var apps: Set<App> = []
  /// The receivers of posts that lack a variable.
  var lackingReceivers: [(rule: String, receiver: String, variable: String)] = []
  /// Why the receivers of posts can't be used; no part of a secret.
  var receiverProblem: String?
  /// The declared words; nil if the files can't be used.
  var vocabulary: RuleVocabulary?
  /// The rules of all directories whose files can be used; nil if those of the first can't.
  var ruleSet: RuleSet?
  /// The first apps that decode later fields of cards, by the type; from each `contract.lock`.
  var releases: [String: ContractReleases] = [:]
  /// Why a `contract.lock` can't be read.
  var lockProblem: String?

  /// Loads the rule directories that the environment names.
  init(_ environment: [String: String]) {
    first = Files(path: RuleDirectoryChoice.path(nil, environment))
    do { _ = try PostVariables(environment) } catch { receiverProblem = "\(error)" }
    let loaded = RuleSource(of: first.path).load()
    first.read(loaded, environment)
    let rules = try? loaded.get()
    let other = readSecond(nextTo: rules, environment)
    guard let rules else { return }
    vocabulary = RuleVocabulary(rules, directory: first.path)
    readLock(first.path)
    var all = rules.ruleSet
    if let (loaded, share) = other, let second {
      all = all.joined(with: loaded.ruleSet, for: share)
      vocabulary?.events.formUnion(loaded.ruleSet.knownEvents)
      readLock(second.path)
    }
    ruleSet = all
    apps = Set(all.apps)
    lackingReceivers = PostVariables.lacking(all, environment).map {
      ($0.rule.name, $0.receiver, $0.variable)
    }
  }

  /// Reads the directory for a share of the rides, if the environment names one.
  private mutating func readSecond(
    nextTo rules: LoadedRules?, _ environment: [String: String]
  ) -> (LoadedRules, RecordSample)? {
    let directories: RuleDirectories
    do { directories = try RuleDirectories(nil, environment) } catch {
      second = Files(path: first.path, problems: [error.description], lack: .variable)
      return nil
    }
    guard let (path, share) = directories.second else { return nil }
    var files = Files(path: path, share: share.text)
    let loaded = directories.loadSecond(nextTo: rules)
    switch loaded {
    case .failure(let problems): files.read(.failure(problems), environment)
    case .success(let rules?): files.read(.success(rules), environment)
    case .success(nil): break
    }
    second = files
    return (try? loaded.get()).flatMap { $0 }.map { ($0, share) }
  }

  private mutating func readLock(_ path: String) {
    do throws(RuleProblems) {
      releases.merge(try ContractLock.load(path)?.releases ?? [:]) { first, _ in first }
    } catch {
      lockProblem = lockProblem ?? error.problems.first?.description ?? ""
    }
  }

  /// For table-driven tests.
  init(
    path: String = "schedules", problems: [String] = [], advice: [String] = [], apps: Set<App> = []
  ) {
    first = Files(path: path, problems: problems, advice: advice)
    self.apps = apps
  }
}

extension RuleState.Files {
  fileprivate mutating func read(
    _ loaded: Result<LoadedRules, RuleProblems>, _ environment: [String: String]
  ) {
    switch loaded {
    case .failure(let found):
      problems = found.problems.map(\.description)
      // Of a second directory, another variable than the advised one names it.
      if share == nil, found.problems.contains(where: { $0.file == path }) { lack = .directory }
    case .success(let loaded):
      (rules, files) = (loaded.ruleCount, loaded.fileCount)
      advice = loaded.lints(hasFCM: environment.namesFCM).map(\.text)
    }
  }
}
