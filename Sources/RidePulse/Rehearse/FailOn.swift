import Base
import RuleFiles
import Timeline

/// A condition under which `rehearse` fails: a word of `--fail-on`.
enum RehearsalFailure: String, CaseIterable {
  case added, removed, late, changed
  case overBudget = "over-budget"
  case brokenPromise = "broken-promise"
  case ringsBetween = "rings-between"
  case ringsPerRide = "rings-per-ride"
  case timeSensitivePerRide = "time-sensitive-per-ride"
  case staleCardFor = "stale-card-for"
  case lostBehind = "lost-behind"

  /// What it limits on phones; nil if it is about pushes.
  var limit: ScreenLimit.Word? { ScreenLimit.Word(rawValue: rawValue) }
}

/// What makes a rehearsal fail: `--fail-on`.
struct FailOn {
  var words: Set<RehearsalFailure>
  /// What no phone may show: the words with their values, or with those of `never` in test files.
  var limits: [ScreenLimit.Kind] = []

  private static let option = "--fail-on"

  /// - Parameter directory: The rule directory, whose test files state limits.
  init(_ arguments: Arguments, testsBelow directory: String) throws {
    guard let text = arguments.value(Self.option) else {
      words = Set(RehearsalFailure.allCases)
      limits = try Self.stated(below: directory)
      return
    }
    words = []
    if text == "none" { return }
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let word = try Self.word(String(sides[0]), arguments)
      words.insert(word)
      let value = sides.count > 1 ? String(sides[1]) : nil
      for limit in try Self.limits(word, value, below: directory, arguments)
      where !limits.contains(limit) {
        limits.append(limit)
      }
    }
  }

  private static func word(_ text: String, _ arguments: Arguments) throws -> RehearsalFailure {
    if let word = RehearsalFailure(rawValue: text) { return word }
    let known = CommandForm.words(RehearsalFailure.self)
    throw arguments.error(
      "\(option) \(text) is not one of \(known.joined(separator: ", ")), none"
        + suggestion(for: text, among: known))
  }

  private static func limits(
    _ word: RehearsalFailure, _ value: String?, below directory: String, _ arguments: Arguments
  ) throws -> [ScreenLimit.Kind] {
    guard let limit = word.limit else {
      if value == nil { return [] }
      throw arguments.error("\(option) \(word.rawValue) takes no value; expected it alone")
    }
    if let value {
      switch NeverWords.limit(limit, value, of: option) {
      case .success(let limits): return limits
      case .failure(let problems):
        throw arguments.error(
          "\(option) \(word.rawValue)=\(value): "
            + problems.problems.map(\.message).joined(separator: "; "))
      }
    }
    let limits = try stated(below: directory).filter { $0.word == limit }
    if !limits.isEmpty { return limits }
    throw arguments.error(
      "\(option) \(word.rawValue) without a value, and no test file below \(directory) has it in "
        + "never; expected one such as \(word.rawValue)=\(limit.example)")
  }

  private static func stated(below directory: String) throws -> [ScreenLimit.Kind] {
    switch NeverWords.limits(inTestsBelow: directory) {
    case .success(let limits): return limits
    case .failure(let problems): throw CommandFailure(problems.description)
    }
  }
}

extension ScreenLimit.Word {
  /// A value for messages.
  fileprivate var example: String {
    switch self {
    case .ringsBetween: "22:00-07:00"
    case .ringsPerRide: "4"
    case .timeSensitivePerRide: "3"
    case .staleCardFor: "2m"
    case .lostBehind: "background"
    }
  }
}
