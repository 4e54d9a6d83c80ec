import Base
import RideCore

/// Finds what the rules change of the contract that `contract.lock` records.
///
/// Apps in the field are months old, and a card on a screen keeps the content that it was given:
/// what they can't decode is refused, and what is new for them must be recorded.
package struct ContractChanges: Sendable {
  /// Changes that apps in the field, or cards on screens, can't decode.
  package private(set) var breaking: [RuleProblem] = []
  /// Changes that they can, and that the lock does not have yet.
  package private(set) var unrecorded: [RuleProblem] = []

  private let lock: ContractLock
  private let rule: RuleContract
  private let type: String
  /// The version of the next field.
  private let nextVersion: Int

  /// Compares one rule's contract with the lock.
  package init(of rule: RuleContract, since lock: ContractLock) {
    (self.lock, self.rule, type) = (lock, rule, rule.contract.typeName)
    guard let locked = lock.contracts[type] else {
      nextVersion = 2
      unrecorded = [
        RuleProblem(
          file: rule.file, location: rule.location(of: []),
          found: "\(lock.file) has no \(type)", expected: Self.record)
      ]
      return
    }
    nextVersion = 1 + locked.latestVersion
    compare(locked.attributes, rule.contract.attributes, ["attributes"])
    compare(locked.contentState, rule.contract.contentState, ["content-state"])
    if breaking.isEmpty, unrecorded.isEmpty, locked != rule.contract {
      unrecorded.append(problem("\(type) is not as in \(lock.file)", Self.record, at: []))
    }
  }

  /// Reports types of the lock that no rule has.
  package static func gone(from lock: ContractLock, in rules: [RuleContract]) -> [RuleProblem] {
    lock.contracts.keys.sorted().filter { name in !rules.contains { $0.contract.typeName == name } }
      .map { name in
        RuleProblem(
          file: lock.file, location: lock.location(of: [], in: name),
          found: "no rule has the attributes-type \(shortened(name))",
          expected:
            "a rule that keeps the cards of apps in the field up to date; once those apps are gone, "
            + "delete its lines here",
          nearest: nearestWord(to: name, among: rules.map(\.contract.typeName)))
      }
  }

  private static let record =
    "`ridepulse generate swift`, which records it, and both files committed"

  private mutating func compare(
    _ old: [String: CardField], _ new: [String: CardField], _ path: [String]
  ) {
    for (key, field) in old.sorted(by: { $0.key < $1.key }) {
      if let now = new[key] {
        compare(field, now, path + [key])
      } else {
        let added = new.filter { old[$0.key] == nil && $0.value.type == field.type }.keys
        breaking.append(
          RuleProblem(
            file: lock.file, location: lock.location(of: path + [key], in: type),
            found: "\(title(path + [key])) is gone from the rules; apps in the field decode it",
            expected:
              "the field kept, under its name, until those apps are gone; then delete this line",
            nearest: nearestWord(to: key, among: added)))
      }
    }
    for (key, field) in new.sorted(by: { $0.key < $1.key }) where old[key] == nil {
      let path = path + [key]
      if field.isOptionalInApp {
        unrecorded.append(problem("\(title(path)) is not in \(lock.file)", Self.record, at: path))
      } else {
        breaking.append(
          problem(
            "\(title(path)) is new and required; cards on screens lack it",
            "since: \(nextVersion) next to its value, so that it is optional in the app", at: path))
      }
    }
  }

  private mutating func compare(_ old: CardField, _ new: CardField, _ path: [String]) {
    compare(old.type, new.type, path)
    if new.isOptional, !old.isOptionalInApp {
      breaking.append(
        problem(
          "\(title(path)) is optional now; apps in the field can't decode null",
          "it as it was, or a new field with since: \(nextVersion)", at: path))
    } else if old.isOptionalInApp, !new.isOptionalInApp {
      breaking.append(
        problem(
          "\(title(path)) was \(old.summary), and is required now; cards on screens lack it",
          "it as it was", at: path))
    }
  }

  private mutating func compare(_ old: FieldType, _ new: FieldType, _ path: [String]) {
    switch (old, new) {
    case (.object(let old?), .object(let new?)): compare(old, new, path)
    case (.list(let old?), .list(let new?)): compare(old, new, path + ["[]"])
    default:
      if old.decodes(new) { return }
      breaking.append(
        problem(
          "\(title(path)) is \(new.summary); apps in the field decode \(old.summary)",
          "\(old.summary), and the new values in a new field with since: \(nextVersion)", at: path))
    }
  }

  private func problem(_ found: String, _ expected: String, at path: [String]) -> RuleProblem {
    RuleProblem(
      file: rule.file, location: rule.location(of: path), found: found, expected: expected)
  }

  private func title(_ path: [String]) -> String { "\(FieldPath.text(path)) of \(type)" }
}

extension CardContract {
  /// The highest version of a field, at any level.
  fileprivate var latestVersion: Int {
    func latest(_ type: FieldType) -> Int {
      switch type {
      case .list(let element?): latest(element)
      case .object(let members?): latest(members)
      default: 1
      }
    }
    func latest(_ fields: [String: CardField]) -> Int {
      fields.values.reduce(1) { max($0, $1.since ?? 1, latest($1.type)) }
    }
    return max(latest(attributes), latest(contentState))
  }
}

extension LoadedRules {
  /// What `check` refuses and `serve` does not: rules whose cards disagree about one type, and changes
  /// of the contract that `contract.lock` does not allow or does not have.
  package func contractProblems(in directory: String) -> [RuleProblem] {
    let disagreements = RuleContract.disagreements(of: contracts)
    do {
      guard let lock = try ContractLock.load(directory) else { return disagreements }
      let changes = contracts.map { ContractChanges(of: $0, since: lock) }
      let problems =
        disagreements + changes.flatMap { $0.breaking + $0.unrecorded }
        + ContractChanges.gone(from: lock, in: contracts)
      return Set(problems).sorted()
    } catch {
      return disagreements + error.problems
    }
  }
}
