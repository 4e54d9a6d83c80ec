import Testing

@testable import FCMSimulator
@testable import SimulatorKit

/// `message.android_v2`, which Google has in preview and RidePulse does not send.
@Suite struct AndroidV2Tests {
  struct Row: Sendable, CustomTestStringConvertible {
    var config: String
    /// The field of the refusal; nil if the message is accepted.
    var field: String?

    var testDescription: String { config }

    init(_ config: String, _ field: String?) { (self.config, self.field) = (config, field) }
  }

  private static let config = #""ttl":"300s","collapse_key":"k","data":{"a":"1"}"#
  private static let shown = #""remote_notification":{"notification":{"id":7,"title":"x"}}"#
  private static let v2 = "message.android_v2"

  private static func text(_ config: String) -> String {
    #"{"message":{"fid":"x","data":{"a":"0"},"android_v2":{\#(config)}}}"#
  }

  static let refused: [Row] = [
    Row(config, v2), Row("\(config),\(shown)", v2), Row(#"\#(shown),"background_sync":{}"#, v2),
    Row(#""remote_notification":{"mutable_content":true}"#, v2),
    Row(#"\#(shown),"priority":"HIGH""#, v2),
    Row(#""background_sync":{"a":1}"#, v2 + ".background_sync"),
    Row(
      shown.replacing("7", with: #""x""#), v2 + ".remote_notification.notification.id"),
    Row(
      shown.replacing("7", with: #"7,"proxy":"DENY""#), v2 + ".remote_notification.notification"),
  ]

  @Test(arguments: refused)
  func `the preview is read, and refused`(row: Row) throws {
    let refusal = try MessageRules.refusal(Self.text(row.config), .all)
    #expect(refusal?.status == 400)
    #expect(refusal?.field == row.field)
  }

  static let allowed: [Row] = [
    Row("\(config),\(shown)", nil), Row(#"\#(config),"background_sync":{}"#, nil), Row(config, v2),
    Row(#"\#(shown),"background_sync":{}"#, v2), Row(#""remote_notification":{}"#, v2),
    Row(shown, v2 + ".ttl"), Row(#"\#(shown),"ttl":"-1s""#, v2 + ".ttl"),
    Row(
      config + "," + shown.replacing("7", with: ##"7,"color":"red""##),
      v2 + ".remote_notification.notification.color"),
  ]

  @Test(arguments: allowed)
  func `it can be allowed, with its own rules`(row: Row) throws {
    let strictness = Strictness.all.subtracting(.androidV2)
    #expect(try MessageRules.refusal(Self.text(row.config), strictness)?.field == row.field)
    let both = Self.text(row.config).replacing(#""fid""#, with: #""android":{"ttl":"1s"},"fid""#)
    #expect(try MessageRules.refusal(both, strictness)?.field == Self.v2)
  }

  @Test func `a phone gets its data and what it shows, which is urgent`() throws {
    func message(_ config: String) throws -> Message {
      try Message(JSONParser.parse(Array(Self.text(config).utf8)))
    }
    let shown = try message("\(Self.config),\(Self.shown)")
    #expect(shown.isHigh && shown.data == ["a": "1"] && shown.collapseKey == "k")
    #expect(shown.notification == ["id": .integer(7), "title": .string("x")])
    let silent = try message(#""ttl":"0s","background_sync":{}"#)
    #expect(!silent.isHigh && silent.data == ["a": "0"] && silent.notification.isEmpty)
    #expect(silent.ttl == 0)
  }
}
