import Foundation
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct PushFileTests {
  private func file(_ text: String) throws -> PushFile { try PushFile(Array(text.utf8)) }

  @Test func `the bundle ID is taken out of the payload`() throws {
    let file = try file(
      #"{"aps": {"alert": "x"}, "Simulator Target Bundle": "com.example.customer", "ride": 1}"#)
    #expect(file.bundleID == "com.example.customer")
    #expect(String(decoding: file.payload, as: UTF8.self) == #"{"aps":{"alert":"x"},"ride":1}"#)
  }

  @Test func `a file without a bundle ID is sent as it was written`() throws {
    let text = "{\"aps\": {\n\"badge\": 2e0}}"
    #expect(try file(text).payload == Array(text.utf8))
  }

  @Test(arguments: [
    ("[]", "found [], expected an object"), ("{\"aps\":", "no JSON at byte 7"),
    (#"{"Simulator Target Bundle": 1}"#, #""Simulator Target Bundle": found 1, expected a string"#),
  ])
  func `a wrong file is refused with its place`(text: String, message: String) {
    let error = #expect(throws: FormatError.self) { try file(text) }
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
  }

  struct Case: Sendable {
    let aps: String
    var topic: String?
    let type: PushType
    let expectedTopic: String
    var priority = "10"
  }

  private static let cases = [
    Case(aps: #"{"alert":"x"}"#, type: .alert, expectedTopic: "com.example.customer"),
    Case(aps: "{}", type: .alert, expectedTopic: "com.example.customer"),
    Case(
      aps: #"{"content-available":1}"#, type: .background, expectedTopic: "com.example.customer",
      priority: "5"),
    Case(
      aps: #"{"content-available":1,"badge":1}"#, type: .alert,
      expectedTopic: "com.example.customer"),
    Case(
      aps: #"{"event":"end"}"#, type: .liveactivity,
      expectedTopic: "com.example.customer.push-type.liveactivity"),
    Case(
      aps: #"{"content-changed":true}"#, type: .widgets,
      expectedTopic: "com.example.customer.push-type.widgets"),
    Case(
      aps: #"{"content-changed":true}"#, topic: "com.example.customer.push-type.controls",
      type: .controls, expectedTopic: "com.example.customer.push-type.controls"),
    Case(
      aps: "{}", topic: "com.example.driver.voip", type: .voip,
      expectedTopic: "com.example.driver.voip"),
  ]

  @Test(arguments: cases)
  func `type, topic and priority follow from the file`(row: Case) throws {
    let file = try file(
      #"{"Simulator Target Bundle":"com.example.customer","aps":\#(row.aps)}"#)
    var options = PushOptions()
    options.topic = row.topic
    let request = try file.request(options, authorization: "bearer x", at: 1000)
    #expect(request.value("apns-push-type") == row.type.rawValue)
    #expect(request.value("apns-topic") == row.expectedTopic)
    #expect(request.value("apns-priority") == row.priority)
    #expect(request.value("apns-expiration") == "4600")
  }

  @Test func `flags go before what the file suggests`() throws {
    var options = PushOptions()
    options.type = .background
    options.priority = 1
    options.collapseID = "ride-1"
    options.expiresSeconds = 0
    options.token = "cdcd"
    let file = try file(#"{"Simulator Target Bundle":"com.a.b","aps":{"alert":"x"}}"#)
    let request = try file.request(options, authorization: "bearer x", at: 1000)
    #expect(request.value("apns-push-type") == "background")
    #expect(request.value("apns-priority") == "1")
    #expect(request.value("apns-collapse-id") == "ride-1")
    #expect(request.value("apns-expiration") == "0")
    #expect(request.path == "/3/device/cdcd")
  }

  @Test func `a push without a topic is refused`() throws {
    let file = try file(#"{"aps":{"alert":"x"}}"#)
    let error = #expect(throws: FormatError.self) {
      try file.request(PushOptions(), authorization: "bearer x", at: 0)
    }
    let text = #"found no "Simulator Target Bundle", expected one, or the topic by --topic"#
    #expect(error?.description == text)
  }

  @Test(arguments: [
    (PushType.alert, #"{"alert":"x"}"#, #"The phone shows "x"."#),
    (
      .alert,
      #"{"alert":{"title":"a","loc-key":"HERE"},"badge":2,"sound":{"critical":1}}"#,
      #"The phone shows title "a", body by key "HERE", badge 2, sound "default"."#
    ),
    (
      .alert, #"{"badge":0,"interruption-level":"passive","content-available":1}"#,
      "The phone shows badge 0, passive, wakes the app."
    ),
    (.background, #"{"content-available":1}"#, "The phone wakes the app, and shows nothing."),
    (
      .liveactivity,
      #"""
      {"event":"start","attributes-type":"Ride","content-state":{"eta":3},
       "alert":{"title":{"loc-key":"T"},"body":"b"}}
      """#,
      #"The phone starts a card of type "Ride": state {"eta":3}, title by key "T", body "b"."#
    ),
    (
      .liveactivity, #"{"event":"update","content-state":{}}"#,
      "The phone updates the card: state {}."
    ),
    (.liveactivity, #"{"event":"end"}"#, "The phone ends the card."),
    (.widgets, "{}", "The phone reloads the app's widgets."),
    (.controls, "{}", "The phone reloads the app's controls."),
    (.voip, "{}", "The phone passes the payload to the app."),
  ])
  func `what the phone does is one sentence`(type: PushType, aps: String, text: String) throws {
    let members = try #require(try JSONParser.parse(Array(aps.utf8)).object)
    #expect(Appearance.text(of: type, members) == text)
  }

  @Test func `a provider token is signed by the key and read as one`() throws {
    let directory = try ScratchDirectory()
    let state = StateDirectory(path: directory.path, keyID: "SIMKEY0001")
    let key = try state.verificationKey("SIMKEY0001")
    var options = SenderOptions()
    options.stateDirectory = directory.path
    var tokens = ProviderTokenWriter(options, issuedAt: 1000)
    let text = try tokens.authorization(keyID: "NOTTHERE01", teamID: "OTHERTEAM1")
    let token = try #require(
      ProviderToken.read(String(text.dropFirst("bearer ".count))) { _, signed, signature in
        key.verifies(signed: signed, signature: signature)
      })
    #expect(token.signatureIsValid && token.issuedAtSeconds == 1000)
    #expect(token.keyID == .string("SIMKEY0001") && token.issuer == .string("SIMTEAM001"))
    #expect(try tokens.authorization() == text, "one token for a key, as Apple asks for")
  }

  /// APNs takes one for an hour, and no other one on its connection for 20 minutes.
  @Test(arguments: [(0, false), (1_199, false), (2_400, false), (2_401, true), (3_600, true)])
  func `a replay goes on with a new token before the old one is too old`(
    age: Int, isOutdated: Bool
  ) {
    let tokens = ProviderTokenWriter(SenderOptions(), issuedAt: 1000)
    #expect(tokens.isOutdated(at: 1000 + age) == isOutdated)
  }
}

/// A directory that is deleted with its owner.
private final class ScratchDirectory {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/apns-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
