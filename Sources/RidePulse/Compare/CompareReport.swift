import Base
import PostgresStore
import RideCore
import Timeline

/// What a comparison of two senders found.
struct CompareReport {
  /// The counts of one kind, or of all.
  struct Counts {
    var both = 0
    /// Of those: a card shows it.
    var covered = 0
    var notSent = 0
    var undecided = 0
    var onlyNew = 0
    var sameTexts = 0
    var otherTexts = 0

    /// What only the old sender showed.
    var onlyOld: Int { notSent + undecided }
  }

  let options: CompareOptions
  let range: Range<Timestamp>
  let repeats: Int
  let old: [OldPush]
  let new: [NewPush]
  let comparison: SenderComparison
  /// Of each pair in `comparison.both`.
  let texts: [TextOutcome]
  let kinds: KindMap
  private(set) var counts: [String: Counts] = [:]
  /// Milliseconds from the old sender's push to RidePulse's.
  private(set) var differences = Distribution()
  /// Rules of `--kind` that decided nothing in this time.
  let idleRules: [String]
  /// Kinds of the log without `--kind` that were no rule and no event of this time.
  let unmatchedKinds: [String]

  init(
    options: CompareOptions, log: OldLogFile, range: Range<Timestamp>, new: [NewPush],
    kinds: KindMap, comparison: SenderComparison, texts: [TextOutcome]
  ) {
    self.options = options
    self.range = range
    repeats = log.repeats
    old = log.pushes
    self.new = new
    self.kinds = kinds
    self.comparison = comparison
    self.texts = texts
    let rules = Set(new.map(\.rule))
    idleRules = options.kinds.map(\.rule).filter { !rules.contains($0) }
    let known = Set(options.kinds.map(\.kind)).union(new.map { kinds.kind(of: $0) })
    unmatchedKinds = Set(log.pushes.filter { range.contains($0.at) }.map(\.kind))
      .subtracting(known).sorted()
    count()
  }

  private mutating func count() {
    for (pair, text) in zip(comparison.both, texts) {
      let (old, new) = (old[pair.old], new[pair.new])
      counts[old.kind, default: Counts()].both += 1
      if new.outcome == .covered { counts[old.kind, default: Counts()].covered += 1 }
      switch text {
      case .same: counts[old.kind, default: Counts()].sameTexts += 1
      case .differs: counts[old.kind, default: Counts()].otherTexts += 1
      case .unknown, .notLogged: break
      }
      differences.add(Int((new.at - old.at).microseconds / 1000))
    }
    for pair in comparison.notSent {
      counts[old[pair.old].kind, default: Counts()].notSent += 1
    }
    for index in comparison.undecided { counts[old[index].kind, default: Counts()].undecided += 1 }
    for index in comparison.onlyNew {
      counts[kinds.kind(of: new[index]), default: Counts()].onlyNew += 1
    }
  }

  var total: Counts {
    counts.values.reduce(into: Counts()) { total, one in
      total.both += one.both
      total.covered += one.covered
      total.notSent += one.notSent
      total.undecided += one.undecided
      total.onlyNew += one.onlyNew
      total.sameTexts += one.sameTexts
      total.otherTexts += one.otherTexts
    }
  }

  /// The words of `--fail-on` that apply, with how many pushes.
  var failures: [(word: CompareFailure, count: Int)] {
    let total = total
    return CompareFailure.allCases.compactMap { word in
      let count =
        switch word {
        case .onlyOld: total.onlyOld
        case .undecided: total.undecided
        case .onlyNew: total.onlyNew
        case .both: total.both
        case .text: total.otherTexts
        }
      return options.failOn.contains(word) && count > 0 ? (word, count) : nil
    }
  }

  /// How many texts are not known, by the cause.
  var unknownTexts: [(cause: TextOutcome.Cause, count: Int)] {
    TextOutcome.Cause.allCases.compactMap { cause in
      let count = texts.count { $0 == .unknown(cause) }
      return count > 0 ? (cause, count) : nil
    }
  }

  /// Percentiles of `differences`, in milliseconds: the least, those of each percentage, the most.
  var percentiles: [(name: String, milliseconds: Int)] {
    if comparison.both.isEmpty { return [] }
    return [("least", 0), ("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1)]
      .map { ($0.0, differences.number(notExceededBy: $0.1)) }
  }
}
