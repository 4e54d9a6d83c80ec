import Base
import RideCore

/// What a push's file has, and what `pushes.json` has about it.
enum PushFixture {
  /// The key by which `xcrun simctl push` knows the app; it is not sent.
  private static let bundleKey = "Simulator Target Bundle"

  /// Returns an `.apns` file: the payload, each byte as sent, with the app's bundle ID in front.
  static func apns(_ push: PlannedPush) -> [UInt8] {
    let key = JSONValue.object([bundleKey: .string(bundleID(push.headers))]).text
    let (members, brace) = (push.payload.dropFirst(), push.payload.prefix(1))
    guard Array(brace) == Array("{".utf8) else { return push.payload }
    let isEmpty = members.first { $0 > 0x20 } == UInt8(ascii: "}")
    return Array(key.utf8.dropLast()) + Array((isEmpty ? "" : ",").utf8) + Array(members)
  }

  private static func bundleID(_ headers: PushHeaders) -> String {
    let suffix = headers.pushType.rules.topicSuffix
    return headers.topic.hasSuffix(suffix)
      ? String(headers.topic.dropLast(suffix.count)) : headers.topic
  }

  /// Returns the file's entry in `pushes.json`: what a sender has to state, and who receives it.
  static func entry(
    _ push: PlannedPush, at now: Timestamp, _ path: String
  ) -> [String: JSONValue] {
    let (entry, headers) = (push.entry, push.headers)
    var members: [String: JSONValue] = [
      "file": .string(path), "at": .string(CivilTime.iso(now)), "rule": .string(entry.rule),
      "app": .string(entry.app.rawValue),
    ]
    members["card"] = entry.cardEvent.map { .string($0.rawValue) }
    switch push.address {
    case .device(let token): members["token"] = .string(wholeToken(token.hex))
    case .registration, .post: return members
    case .channel: members["channel"] = .string(push.address.text)
    }
    members["topic"] = .string(headers.topic)
    members["type"] = .string(headers.pushType.rawValue)
    members["priority"] = .integer(Int64(headers.priority.rawValue))
    members["collapse_id"] = headers.collapseID.map { .string($0.text) }
    return members
  }

  /// Returns a token as long as a phone's: stories have shorter ones, which simulators refuse.
  private static func wholeToken(_ hex: String) -> String {
    hex.count < 64 ? SHA256.hex(SHA256.digest(hex.utf8)) : hex
  }

  /// Returns the data of a card in a push, as the app's types decode it.
  static func cardData(_ push: PlannedPush) -> [(folder: FixtureFolder, data: [UInt8])] {
    guard let payload = JSONValue(json: push.payload) else { return [] }
    return FixtureFolder.allCases.compactMap { folder in
      switch folder {
      case .contentStates: data(payload, "content-state", "rp_state").map { (folder, $0) }
      case .attributes: data(payload, "attributes", "rp_attributes").map { (folder, $0) }
      }
    }
  }

  private static func data(_ payload: JSONValue, _ apns: String, _ fcm: String) -> [UInt8]? {
    if let value = payload.value(at: ["aps", apns]) { return Array(value.text.utf8) }
    guard case .string(let text)? = payload.value(at: ["message", "data", fcm]) else { return nil }
    return Array(text.utf8)
  }
}
