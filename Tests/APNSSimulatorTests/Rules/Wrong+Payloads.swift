@testable import APNSSimulator

extension Wrong {
  static let payloads: [Wrong] = [
    .payload("", .payloadEmpty),
    .payload("null", .badPayload),
    .payload("[]", .badPayload),
    .payload("{}", .badPayload),
    .payload(#"{"aps":[]}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x"}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x"},"aps":{"alert":"y"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","ride":"own key"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","badge":"1"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","interruption-level":"urgent"}}"#, .badPayload),
    .payload(String(repeating: "[", count: 4000), .badPayload),
    .payload(padded(to: 4097), .payloadTooLarge),
    .payload(padded(to: 5121), .payloadTooLarge, type: .voip),
  ]

  static let alerts: [Wrong] = [
    .payload(#"{"aps":{}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":""}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"","body":"x"}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"x","body":""}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":1}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"x","text":"y"}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"loc-key":"K","loc-args":[1]}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","event":"update"}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","content-state":{}}}"#, .invalidPushType),
    .payload(#"{"aps":{"content-available":1}}"#, .invalidPushType),
  ]

  static let backgrounds: [Wrong] = [
    .payload(#"{"aps":{}}"#, .invalidPushType, type: .background),
    .payload(#"{"aps":{"content-available":true}}"#, .badPayload, type: .background),
    .payload(#"{"aps":{"content-available":1,"alert":"x"}}"#, .invalidPushType, type: .background),
    .payload(#"{"aps":{"content-available":1,"badge":0}}"#, .invalidPushType, type: .background),
    .payload(
      #"{"aps":{"content-available":1,"sound":"default"}}"#, .invalidPushType, type: .background),
  ]

  static let liveActivities: [Wrong] = [
    activity(#""content-state":{}"#),
    activity(#""event":"stop","content-state":{}"#),
    activity(#""event":"update""#),
    activity(#""event":"update","content-state":[]"#),
    activity(#""event":"update","content-state":{},"attributes":{}"#),
    activity(#""event":"update","content-state":{}"#, timestamp: "1790000000.0"),
    activity(#""event":"update","content-state":{}"#, timestamp: #""1790000000""#),
    activity(#""event":"update","content-state":{}"#, timestamp: "1790000000000"),
    activity(#""event":"update","content-state":{}"#, timestamp: "1789900000"),
    activity(#""event":"update","content-state":{},"stale-date":1790000120.5"#),
    activity(#""event":"update","content-state":{},"stale-date":1790000120000"#),
    activity(#""event":"update","content-state":{},"dismissal-date":1790000120"#),
    activity(#""event":"update","content-state":{},"alert":"x""#),
    activity(#""event":"update","content-state":{},"alert":{"title-loc-key":"K"}"#),
    activity(#""event":"update","content-state":{},"alert":{"title":""}"#),
    activity(#""event":"start","content-state":{},"attributes-type":"A","attributes":{}"#),
    activity(#""event":"start","content-state":{},"attributes":{},"alert":{"title":"x"}"#),
    activity(#""event":"start","content-state":{},"attributes-type":"A","alert":{"title":"x"}"#),
    activity(#""event":"end","dismissal-date":"now""#),
  ]

  static let all: [Wrong] =
    requests + headers + providerTokens + deviceTokens + payloads + alerts + backgrounds
    + liveActivities

  private static func activity(
    _ members: String, timestamp: String = String(Fixture.now)
  ) -> Wrong {
    .payload(
      Fixture.activity(members, timestamp: timestamp), .invalidPushType, type: .liveactivity)
  }

  static func padded(to bytes: Int) -> String {
    let frame = #"{"aps":{"alert":""}}"#
    let padding = String(repeating: "x", count: bytes - frame.utf8.count)
    return #"{"aps":{"alert":"\#(padding)"}}"#
  }
}
