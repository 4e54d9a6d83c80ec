import Base
import RideCore
import Timeline

/// What a rehearsal found, ready for each output format.
struct RehearsalReport {
  var header: DayHeader
  /// The lines of the day.
  var lines: Int
  /// What the columns are called: the rules, and what they are compared with.
  var name: String
  var otherName: String?
  /// Whether the limits of phones are compared: with other rules alone.
  var comparesLimits: Bool
  /// `sha256:` and the digest of the rules.
  var digest: String
  var after: RehearsalSummary
  var before: RehearsalSummary?
  var changes: RehearsalChanges
  /// What each rule sends, of both sets of rules.
  var types: [String: PushType]
  /// How often phones broke the limits of `--fail-on`.
  var limits: LimitFigures
  var failOn: FailOn

  /// Adds the differences from a former report, which has figures and no single push.
  mutating func compare(with former: RehearsalSummary) {
    before = former
    for rule in Set(former.byRule.keys).union(after.byRule.keys).sorted() {
      let old = former.byRule[rule] ?? .init()
      let new = after.byRule[rule] ?? .init()
      if new.pushes > old.pushes {
        changes.add(.added, rule, count: new.pushes - old.pushes)
      } else if new.pushes < old.pushes {
        changes.add(.removed, rule, count: old.pushes - new.pushes)
      } else if new.digest != old.digest {
        changes.add(.changed, rule, count: new.pushes)
      } else {
        changes.unchanged += new.pushes
      }
    }
  }

  /// What failed, with the number of cases, in the order of the words.
  var failures: [(word: RehearsalFailure, count: Int)] {
    RehearsalFailure.allCases.compactMap { word in
      let count = count(of: word)
      return failOn.words.contains(word) && count > 0 ? (word, count) : nil
    }
  }

  func count(of word: RehearsalFailure) -> Int {
    switch word {
    case .added: changes.count(.added)
    case .removed: changes.count(.removed)
    case .late: changes.count(.late)
    case .changed: changes.count(.changed)
    case .overBudget: max(0, after.overBudgetCards - (before?.overBudgetCards ?? 0))
    case .brokenPromise: after.breaches.reduce(0) { $0 + $1.count }
    case .ringsBetween, .ringsPerRide, .timeSensitivePerRide, .staleCardFor, .lostBehind:
      limitText.groups.filter { $0.limit.word == word.limit }.reduce(0) { $0 + $1.group.new }
    }
  }

  var limitText: LimitText {
    LimitText(limits: failOn.limits, figures: limits, otherName: comparesLimits ? otherName : nil)
  }

  var changeText: ChangeText { ChangeText(changes: changes) }

  /// A test for each word of `--fail-on`.
  var junit: JUnit {
    let failures = failures
    let cases = RehearsalFailure.allCases.filter(failOn.words.contains).map { word in
      JUnit.Case(
        name: word.rawValue,
        failures: failures.filter { $0.word == word }.map {
          JUnit.Failure(
            kind: word.rawValue, message: "\(counted($0.count, "case")) of \(word.rawValue)",
            details: details(word))
        })
    }
    return JUnit(suites: [JUnit.Suite(name: "rehearse", cases: cases)])
  }

  private func details(_ word: RehearsalFailure) -> String {
    switch word {
    case .brokenPromise:
      return after.breaches.map { "\($0.promise): \($0.count), such as \($0.example)" }
        .joined(separator: "; ")
    case .overBudget: return "\(after.overBudgetPushes) pushes at priority 5"
    case .ringsBetween, .ringsPerRide, .timeSensitivePerRide, .staleCardFor, .lostBehind:
      return limitText.lines { $0.word == word.limit }.joined(separator: "\n")
    case .added, .removed, .late, .changed:
      return changeText.groups.filter { $0.kind.rawValue == word.rawValue }.map {
        rule, kind, group in
        let example = group.examples.first.map {
          ", such as ride \($0.ride) at \(CivilTime.exact($0.at))"
        }
        return "\(rule): \(group.count) \(kind.rawValue)" + (example ?? "")
      }.joined(separator: "; ")
    }
  }

  typealias Row = FigureRow

  var rows: [Row] {
    var rows = [count("pushes", \.pushes)]
    for type in keys(\.byType) { rows.append(count("  \(type)") { $0.byType[type] ?? 0 }) }
    for priority in keys(\.byPriority).sorted(by: { (Int($0) ?? 0) > (Int($1) ?? 0) }) {
      rows.append(count("  priority \(priority)") { $0.byPriority[priority] ?? 0 })
    }
    for rule in Set(after.byRule.keys).union(before?.byRule.keys ?? [:].keys).sorted() {
      rows.append(count("  rule \(rule)") { $0.byRule[rule]?.pushes ?? 0 })
    }
    rows.append(text("per ride, median / p99 / most") { "\($0.median) / \($0.p99) / \($0.most)" })
    rows += attentionRows
    rows.append(
      text("peak of an owner in an hour") { figures in
        figures.peak.map { peak in
          "\(peak.pushes), \(peak.of.app) \(peak.of.owner) at \(RehearsalSummary.hour(peak.of.hour))"
        } ?? "-"
      })
    rows.append(
      text("busiest minute") { figures in
        figures.busiest.map { "\($0.pushes) at \(RehearsalSummary.minute($0.minute))" } ?? "-"
      })
    rows.append(count("cards over budget", \.overBudgetCards))
    for rule in Set(after.notSent.keys).union(before?.notSent.keys ?? [:].keys).sorted() {
      let reasons = Set((after.notSent[rule] ?? [:]).keys)
        .union((before?.notSent[rule] ?? [:]).keys)
      for reason in reasons.sorted() {
        rows.append(
          count("not sent: \(LedgerText.rule(rule)), \(reason)") { $0.notSent[rule]?[reason] ?? 0 })
      }
    }
    return rows
  }

  /// What people notice, by app.
  private var attentionRows: [Row] {
    let apps = Set(after.attention.keys).union(before?.attention.keys ?? [:].keys)
    return apps.sorted().flatMap { app in
      [
        attention("rang, \(app)", app, \.rang), attention("lit, \(app)", app, \.lit),
        attention("at night, \(app)", app, \.atNight),
        text("rings a ride, \(app)") { $0.attention[app]?.rings.text ?? "-" },
      ]
    }
  }

  /// What was recorded has no texts, and so no such figures.
  private func attention(
    _ title: String, _ app: String, _ path: KeyPath<AttentionSummary, Int>
  ) -> Row {
    if let before, before.attention.isEmpty {
      let new = after.attention[app]?[keyPath: path] ?? 0
      return Row(title: title, before: "-", after: "\(new)", difference: nil)
    }
    return count(title) { $0.attention[app]?[keyPath: path] ?? 0 }
  }

  private func keys(_ path: KeyPath<RehearsalSummary, [String: Int]>) -> [String] {
    Set(after[keyPath: path].keys).union(before.map { Set($0[keyPath: path].keys) } ?? []).sorted()
  }

  private func count(_ title: String, _ value: (RehearsalSummary) -> Int) -> Row {
    let (old, new) = (before.map(value), value(after))
    return Row(
      title: title, before: old.map { "\($0)" }, after: "\(new)", difference: old.map { new - $0 })
  }

  private func text(_ title: String, _ value: (RehearsalSummary) -> String) -> Row {
    Row(title: title, before: before.map(value), after: value(after), difference: nil)
  }
}
