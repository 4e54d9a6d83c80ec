import Base
import RideCore
import Timeline

// What APNs and FCM answer on the way.

extension ScenarioDecoder {
  func answers(_ entry: Fields, _ at: Timestamp) -> [Change] {
    let reasons = FCMReason.table.keys.sorted()
    let apns = entry.value("apns", .later(.choice(["accepts", "away"])))
    let fcm = entry.value("fcm", .later(.choice(["accepts", "away"] + reasons)))
    let ofAPNs = apns.flatMap {
      answer($0, at, of: .ios, as: ScenarioKeys.answer, such: "or { status: 410, for: 3m }", answer)
    }
    let ofFCM = fcm.flatMap {
      answer(
        $0, at, of: .android, as: ScenarioKeys.fcmAnswer, reasons,
        such: "a reason such as UNREGISTERED, or { reason: UNAVAILABLE, for: 3m }", fcmAnswer)
    }
    return [ofAPNs, ofFCM].compactMap { $0 }
  }

  /// Decodes `away`, `accepts`, a word of FCM, or a mapping with a refusal.
  private func answer(
    _ field: Field, _ at: Timestamp, of platform: Platform, as form: MappingForm,
    _ reasons: [String] = [], such example: String, _ refusal: (Fields, Timestamp) -> Change?
  ) -> Change? {
    switch field.node.string {
    case "accepts": return .answers(.accepted, until: nil, of: platform)
    case "away":
      let service = platform == .ios ? "APNs" : "FCM"
      return .answers(.unsent(.noConnection("\(service) is away")), until: nil, of: platform)
    case let word? where reasons.contains(word):
      return fcmRefusal(word, at).map { .answers(.refused($0), until: nil, of: platform) }
    default: break
    }
    guard case .mapping = field.node.kind else {
      return field.refused(
        "accepts, away, \(example)", among: ["accepts", "away"] + reasons)
    }
    return ValueType.mapping(form).read(field).flatMap { refusal($0, at) }
  }

  func answer(_ fields: Fields, _ at: Timestamp) -> Change? {
    let status = fields.value(
      "status", .integer(400...599), required: "status: 410, or another one")
    let reason = fields.value("reason", .plainText)
    let until = until(fields, at)
    return status.map {
      .answers(
        .refused(Refusal(status: $0, reason: reason, timestamp: $0 == 410 ? at : nil)),
        until: until)
    }
  }

  func fcmAnswer(_ fields: Fields, _ at: Timestamp) -> Change? {
    let known = FCMReason.table.keys.sorted()
    let reason = fields.value(
      "reason", .later(.choice(known)), required: "reason: UNAVAILABLE, or another one")
    let until = until(fields, at)
    guard let reason else { return nil }
    guard let refusal = reason.node.string.flatMap({ fcmRefusal($0, at) }) else {
      return reason.refused(alternatives(known), among: known)
    }
    return .answers(.refused(refusal), until: until, of: .android)
  }

  private func until(_ fields: Fields, _ at: Timestamp) -> Timestamp? {
    fields.value("for", .duration(such: "10m or 1h30m")).map { at + $0 }
  }

  /// Returns FCM's refusal with this word, which is that of a token that is gone since then.
  private func fcmRefusal(_ word: String, _ at: Timestamp) -> Refusal? {
    FCMReason.table[word].map { reason in
      Refusal(
        status: reason.status, reason: word,
        timestamp: reason.rule?.token == .gone ? at : nil)
    }
  }
}
