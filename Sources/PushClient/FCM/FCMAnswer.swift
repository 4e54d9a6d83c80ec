import Base
import RideCore

/// What the body of an answer of FCM other than 200 states.
struct FCMAnswer {
  /// Google's answers are four objects deep; a deeper one is not from FCM.
  private static let depthLimit = 16

  /// Google's word, or RidePulse's if Google's has two meanings.
  ///
  /// A word that does not belong to the status counts as unknown, and a body that can't be read as
  /// none: the status decides, and no registration is given up. Nil if the status has no word
  /// either.
  let word: String?

  /// Google's sentence, up to 300 bytes; nil if the body has none.
  let detail: String?

  init(status: Int, _ body: [UInt8]) {
    let json = try? JSONParser.parse(body, depthLimit: Self.depthLimit, allowsDuplicates: true)
    let error = json?["error"]
    let details = Self.elements(error?["details"])
    let code = details.first { Self.isOf($0, "google.firebase.fcm.v1.FcmError") }?["errorCode"]
    let word =
      Self.known(code, status) ?? Self.known(error?["status"], status) ?? Self.word(of: status)
    switch word {
    case "INVALID_ARGUMENT"? where Self.namesTarget(details, error):
      self.word = "INVALID_REGISTRATION"
    case "QUOTA_EXCEEDED"? where Self.namesDevice(details): self.word = "DEVICE_QUOTA_EXCEEDED"
    default: self.word = word
    }
    detail = Self.text(error?["message"]).flatMap { $0.isEmpty ? nil : $0.brief(bytes: 300) }
  }

  /// Returns the message's ID in FCM from the body of a 200,
  /// `{"name": "projects/…/messages/<id>"}`; nil if there is none that a row can hold.
  ///
  /// Found without a parser, because each accepted push has one.
  static func messageID(_ body: [UInt8]) -> String? {
    guard let start = endOfMarker(in: body) else { return nil }
    let rest = body[start...]
    guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    let id = rest[..<end]
    guard (1...128).contains(id.count),
      id.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") })
    else { return nil }
    return String(decoding: id, as: UTF8.self)
  }

  private static let marker = Array("/messages/".utf8)

  /// Returns the offset behind the first marker.
  ///
  /// `firstRange(of:)` would cost more than all else that is done for a message.
  private static func endOfMarker(in body: [UInt8]) -> Int? {
    let (marker, slash) = (marker, UInt8(ascii: "/"))
    for start in body.indices where body[start] == slash {
      let end = start + marker.count
      if end <= body.count, body[start..<end].elementsEqual(marker) { return end }
    }
    return nil
  }

  /// Returns the word of an answer without one, or with an unknown one.
  private static func word(of status: Int) -> String? {
    switch status {
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    // FCM has no 410, which says of a token of APNs that it is gone.
    case 404, 410: "PROJECT_NOT_FOUND"
    case 429: "QUOTA_EXCEEDED"
    default: nil
    }
  }

  private static func known(_ word: JSONValue?, _ status: Int) -> String? {
    guard case .string(let word)? = word, let reason = FCMReason.table[word] else { return nil }
    // Google documents no status for this one.
    return reason.status == status || word == "UNSPECIFIED_ERROR" ? word : nil
  }

  /// Whether an answer finds fault with the registration, and not with the rest of the message.
  private static func namesTarget(_ details: [JSONValue], _ error: JSONValue?) -> Bool {
    let violations = details.filter { isOf($0, "google.rpc.BadRequest") }
      .flatMap { elements($0["fieldViolations"]) }
    let targets = ["message.token", "message.fid", "message.registration"]
    if violations.contains(where: { text($0["field"]).map(targets.contains) ?? false }) {
      return true
    }
    // Some of Google's answers have no field.
    return text(error?["message"])?.hasPrefix("The registration token is not a valid") ?? false
  }

  /// Whether the rate of one phone was exceeded, and not that of the project.
  private static func namesDevice(_ details: [JSONValue]) -> Bool {
    details.filter { isOf($0, "google.rpc.QuotaFailure") }
      .flatMap { elements($0["violations"]) }
      .contains { violation in
        [violation["subject"], violation["description"]]
          .contains { text($0)?.lowercased().contains("device") ?? false }
      }
  }

  static func isOf(_ detail: JSONValue, _ type: String) -> Bool {
    text(detail["@type"])?.hasSuffix(type) ?? false
  }

  static func elements(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let elements)? = value { elements } else { [] }
  }

  static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }
}
