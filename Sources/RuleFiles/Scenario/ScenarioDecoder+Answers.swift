import Base
import RideCore
import Timeline

// What APNs and FCM answer on the way.

extension ScenarioDecoder {
  /// Decodes `away`, `accepts`, or a mapping with the status of an answer.
  func answer(_ field: Field, _ at: Timestamp) -> Change? {
    switch field.node.string {
    case "accepts": return .answers(.accepted, until: nil)
    case "away": return .answers(.unsent(.noConnection("APNs is away")), until: nil)
    default: break
    }
    guard case .mapping = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: "apns", expected: "accepts, away, or { status: 410, for: 3m }",
        among: ["accepts", "away"])
      return nil
    }
    guard
      let answer = Fields(field.node, as: ScenarioKeys.answer, diagnostics: diagnostics),
      let status = answer.required("status").flatMap(decode.integer)
    else { return nil }
    let until = answer["for"].flatMap(decode.duration).map { at + $0 }
    let refusal = Refusal(
      status: status, reason: answer["reason"].flatMap(values.text),
      timestamp: status == 410 ? at : nil)
    return .answers(.refused(refusal), until: until)
  }

  /// Decodes `away`, `accepts`, a word of FCM, or a mapping with such a word.
  func fcmAnswer(_ field: Field, _ at: Timestamp) -> Change? {
    switch field.node.string {
    case "accepts": return .answers(.accepted, until: nil, of: .android)
    case "away":
      return .answers(.unsent(.noConnection("FCM is away")), until: nil, of: .android)
    case let word?:
      if let refusal = refusal(word, at) {
        return .answers(.refused(refusal), until: nil, of: .android)
      }
    case nil: break
    }
    guard case .mapping = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: "fcm",
        expected: "accepts, away, a reason such as UNREGISTERED, or "
          + "{ reason: UNAVAILABLE, for: 3m }",
        among: ["accepts", "away"] + FCMReason.table.keys.sorted())
      return nil
    }
    guard
      let answer = Fields(field.node, as: ScenarioKeys.fcmAnswer, diagnostics: diagnostics),
      let reason = answer.required("reason")
    else { return nil }
    guard let refusal = reason.node.string.flatMap({ refusal($0, at) }) else {
      let known = FCMReason.table.keys.sorted()
      diagnostics.reportType(
        of: reason.node, for: reason.name, expected: alternatives(known), among: known)
      return nil
    }
    let until = answer["for"].flatMap(decode.duration).map { at + $0 }
    return .answers(.refused(refusal), until: until, of: .android)
  }

  /// Returns FCM's refusal with this word, which is that of a token that is gone since then.
  private func refusal(_ word: String, _ at: Timestamp) -> Refusal? {
    FCMReason.table[word].map { reason in
      Refusal(
        status: reason.status, reason: word,
        timestamp: reason.rule?.token == .gone ? at : nil)
    }
  }
}
