import Base
import PostgresStore
import RideCore

/// Finds states and events that the app uses and no rule file declares.
enum WordCheck {
  /// Returns a warning if there are such words; nothing otherwise. Words that have been declared
  /// since are left out.
  static func results(
    _ words: Probe<[UndeclaredWord]>, _ vocabulary: RuleVocabulary?
  ) -> [CheckResult] {
    let name = "unknown words"
    return words.judged(name, else: "they can't be counted") { words in
      let unknown = words.filter { !(vocabulary?.known($0.kind).contains($0.word) ?? false) }
      if unknown.isEmpty { return [] }
      let list = DatabaseCheck.list(unknown.map { describe($0, vocabulary) })
      return [
        CheckResult(
          name: name, standing: .warning,
          what: "no rule file declares \(list), of the last day: no push was sent for them",
          remedy: unknown.prefix(6).map { remedy($0, vocabulary) })
      ]
    }
  }

  private static func describe(_ word: UndeclaredWord, _ vocabulary: RuleVocabulary?) -> String {
    let kind =
      switch word.kind {
      case .state: "state"
      case .event: "event"
      }
    let near = nearestWord(to: word.word, among: (vocabulary?.known(word.kind) ?? []).sorted())
    let hint = near.map { ", nearest is \($0)" } ?? ""
    return "the \(kind) \"\(word.word)\" (\(counted(Int(word.count), "event"))\(hint))"
  }

  private static func remedy(_ word: UndeclaredWord, _ vocabulary: RuleVocabulary?) -> String {
    switch word.kind == .event ? InternalEvent(rawValue: word.word) : nil {
    case .rawPush: return "call ridepulse.push instead of emitting \(word.word)"
    case .rawBroadcast: return "call ridepulse.broadcast instead of emitting \(word.word)"
    case .some: return "emit an event of another name: RidePulse emits \(word.word) itself"
    case nil: break
    }
    let declare =
      vocabulary?.remedy(for: word.word, as: word.kind) ?? "fix the rule files: ridepulse check"
    switch word.kind {
    case .event: return "\(declare), or correct the name where it is emitted"
    case .state:
      return
        "\(declare), or map it under \"states\" where \(Database.schema).watch attaches the table"
    }
  }
}
