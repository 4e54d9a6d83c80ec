import Base
import RideCore
import Testing

@testable import AdminServer

@Suite struct APIBodyTests {
  @Test(arguments: [
    ("", "the body is empty"), (" \n", "the body is empty"), ("[1]", "not an object"),
    ("\"x\"", "not an object"), ("null", "not an object"),
    (#"{"a": 1,}"#, "line 1, column 9: a name in quotes"),
    ("{\"ä\":\n 1 x}", "line 2, column 4: a comma or }"),
    (#"{"a": [1,]}"#, "column 10: a value"), (#"{"a": 1"#, "column 8: it ends too early"),
    (#"{"a""#, "column 5: it ends"), (#"{"a": "b"#, "column 9: it ends"), ("{", "it ends"),
    (#"{"a": tru}"#, "column 7: a value"), (#"{"a": 01}"#, "column 8: a comma"),
    (#"{"a": -}"#, "a digit"), (#"{"a": 1.}"#, "a digit"), (#"{"a": .5}"#, "a value"),
    (#"{"a": 1e}"#, "a digit"), (#"{"a": +1}"#, "a value"), (#"{"a": NaN}"#, "a value"),
    ("{\"a\": \"\t\"}", "column 8: a control character"), (#"{"a": "\x"}"#, "an unknown escape"),
    (#"{"a": "\u12g4"}"#, "four hexadecimal"), (#"{"a": "\ud800"}"#, "surrogate"),
    (#"{"a": "\ud800\u0041"}"#, "surrogate"), (#"{"a": "\udc00"}"#, "surrogate"),
    (#"{"a": 1e999}"#, "exceeds the range of a double"), (#"{'a': 1}"#, "column 2: a name"),
    (#"{"a" 1}"#, "column 6: a colon"), (#"{"a": 1} {"b": 2}"#, "column 10: unexpected text"),
    (#"{"a": 1, "b": {"a": 2}, "a": 3}"#, #"column 25: "a" appears twice"#),
    (#"{"a": 1, "b": {"é": 2, "\u00e9": 3}}"#, #"column 24: "\u00e9" appears twice"#),
    ("{\"a\": \"\u{0}\"}", "column 8: a control character"),
    ("// x\n{}", "line 1, column 1: a value"),
    (
      #"{"a":"# + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}",
      "column 37: objects and arrays are nested more than 32 deep"
    ),
    (String(repeating: "[", count: 60_000), "deep"),
    (String(repeating: #"{"a":"#, count: 10_000), "deep"),
  ])
  func `what is no JSON object is refused, with the location`(text: String, complaint: String) {
    let error = #expect(throws: APIError.self) { try APIBody.members(of: Array(text.utf8)) }
    #expect(error?.code == .invalidJSON)
    #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
  }

  @Test func `other encodings are refused`() {
    for bytes: [UInt8] in [
      [0xff, 0xfe, 0x7b, 0, 0x7d, 0], [0x7b, 0, 0x7d, 0], [0x7b, 0x22, 0xc3, 0x22, 0x7d],
    ] {
      #expect(throws: APIError.self) { try APIBody.members(of: bytes) }
    }
  }

  @Test func `what is one is read, names within others too`() throws {
    let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
    let rest = #"[-0, 1.5E+3, 0.1e-2, true, false, null, {}, [ ], "\ud83d\ude97\/\n"]"#
    let members = try APIBody.members(
      of: Array(#" {"a": {"a": "{\"a\":"}, "b": \#(deep), "c": "]]]", "d": \#(rest)} "#.utf8))
    #expect(members["a"] == .object(["a": .string("{\"a\":")]))
    #expect(members.count == 4)
  }

  private func arguments(_ call: APICall, _ json: String) throws -> [String: JSONValue] {
    try call.arguments(APIBody.members(of: Array(json.utf8)), apps: [.driver, .customer])
  }

  @Test(arguments: [
    (
      APICall.events, #"{"event": "x", "ride": "r"}"#, APIError.Code.unknownField, "ride",
      "mean ride_id"
    ),
    (.liveActivities, #"{"app": "customer"}"#, .missingField, "ride_id", "missing"),
    (.events, #"{"event": null, "ride_id": "r"}"#, .missingField, "event", "missing"),
    (.events, #"{"event": 7, "ride_id": "r"}"#, .wrongType, "event", "a number; send a string"),
    (.events, #"{"event": "x", "ride_id": ""}"#, .invalidValue, "ride_id", "empty"),
    (.events, #"{"event": "x", "ride_id": "a\nb"}"#, .invalidValue, "ride_id", "control"),
    (.events, #"{"event": "x", "ride_id": "a\u0000b"}"#, .invalidValue, "ride_id", "control"),
    (.events, #"{"event": "x", "ride_id": "r", "data": []}"#, .wrongType, "data", "an array"),
    (
      .events, #"{"event": "x", "ride_id": "r", "data": {"a": ["\u0000"]}}"#, .invalidValue, "data",
      "u0000"
    ),
    (.events, #"{"event": "x", "ride_id": "r", "data": {"\u0000": 1}}"#, .invalidValue, "data", ""),
    (
      .events, #"{"event": "x", "ride_id": "\#(String(repeating: "é", count: 257))"}"#,
      .invalidValue, "ride_id", "514 bytes"
    ),
    (.contact, #"{"app": "custmer", "owner_id": "c"}"#, .invalidValue, "app", "mean customer"),
    (.contact, #"{"app": "x", "owner_id": "c"}"#, .invalidValue, "app", "customer, driver"),
    (
      .preferences, #"{"app": "customer", "owner_id": "c", "topic": "My News", "allowed": true}"#,
      .invalidValue, "topic", "a-z, 0-9, - and _"
    ),
    (
      .preferences, #"{"app": "customer", "owner_id": "c", "topic": "news", "allowed": "no"}"#,
      .wrongType, "allowed", "true or false"
    ),
    (
      .preferences, #"{"app": "customer", "owner_id": "c", "topic": "news"}"#, .missingField,
      "allowed", "send it"
    ),
    (.contact, #"{"app": "customer", "owner_id": true}"#, .wrongType, "owner_id", "a boolean"),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "abc"}"#, .invalidValue, "token",
      "hexadecimal"
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "zz11"}"#, .invalidValue, "token",
      ""
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "c1", "environment": "Sandbox"}"#,
      .invalidValue, "environment", "mean sandbox"
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "c1", "platform": "windows"}"#,
      .invalidValue, "platform", "known: ios, android"
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "c1:x"}"#, .invalidValue, "token",
      "an FCM token needs platform android"
    ),
    (
      .devices,
      #"{"app": "customer", "owner_id": "c", "token": "c1", "platform": "android", "environment": "sandbox"}"#,
      .invalidValue, "environment", "FCM has no environments"
    ),
    (
      .devices,
      #"{"app": "customer", "owner_id": "c", "platform": "android", "token": ""#
        + String(repeating: "aB", count: 32) + #""}"#, .invalidValue, "token",
      "looks like one of APNs; send platform ios or leave it out"
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "a b", "platform": "android"}"#,
      .invalidValue, "token", "without spaces"
    ),
    (
      .devices, #"{"app": "customer", "owner_id": "c", "token": "c1", "alerts": "yes"}"#,
      .wrongType, "alerts", "true or false"
    ),
    (
      .liveActivities,
      #"{"app":"customer","owner_id":"c","ride_id":"r","activity_id":"a","token":"c1","frequent":1}"#,
      .wrongType, "frequent", "true or false"
    ),
    (.rides, #"{"pickup_at": "2026-11-21T08:00:00"}"#, .invalidValue, "pickup_at", "an offset"),
    (.rides, #"{"pickup_at": 1792569600}"#, .wrongType, "pickup_at", "send a string"),
    (.rides, #"{"time_zone": "Europe/Berlim"}"#, .invalidValue, "time_zone", "IANA"),
    (.rides, #"{"time_zone": "ACT"}"#, .invalidValue, "time_zone", "IANA"),
    (.rides, #"{"time_zone": "NST"}"#, .invalidValue, "time_zone", "IANA"),
    (.rides, #"{"time_zone": "GMT+18"}"#, .invalidValue, "time_zone", "IANA"),
    (.rides, #"{"time_zone": "US/Pacific-New"}"#, .invalidValue, "time_zone", "IANA"),
    (.rides, #"{"attributes": []}"#, .wrongType, "attributes", "an object"),
    (.rides, #"{"participants": {}}"#, .wrongType, "participants", "a list of objects"),
    (.rides, #"{"participants": ["u1"]}"#, .wrongType, "participants[0]", "send an object"),
    (
      .rides, #"{"participants": [{"app": "driver", "owner_id": "d"}, {"app": "driver"}]}"#,
      .missingField, "participants[1].owner_id", "send it"
    ),
    (
      .rides, #"{"participants": [{"app": "drivr", "owner_id": "d"}]}"#, .invalidValue,
      "participants[0].app", "mean driver"
    ),
    (
      .rides, #"{"participants": [{"app": "driver", "owner": "d"}]}"#, .unknownField,
      "participants[0]", "known: app, owner_id, attributes"
    ),
    (
      .rides, #"{"participants": [{"app": "driver", "owner_id": "d", "attributes": []}]}"#,
      .wrongType, "participants[0].attributes", "an object"
    ),
    (
      .rides,
      #"{"participants": [{"app": "driver", "owner_id": "d", "attributes": {"a": "\#(String(repeating: "x", count: 8185))"}}]}"#,
      .invalidValue, "participants[0].attributes", "8193 bytes; it may have 8192"
    ),
    (
      .rides,
      #"{"participants": [\#(repeatElement("1", count: 1001).joined(separator: ","))]}"#,
      .invalidValue, "participants", "1001 people; it may have 1000"
    ),
    (.rides, #"{"updated_at": "x"}"#, .unknownField, "updated_at", "known: state"),
    (.deleteDevice, #"{"token": "ab"}"#, .unknownField, "token", "send no body"),
  ])
  func `a wrong field is named, with what may stand there`(
    call: APICall, json: String, code: APIError.Code, field: String, words: String
  ) {
    let error = #expect(throws: APIError.self) { try arguments(call, json) }
    #expect(error?.code == code && error?.field == field)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `a token is never said again`() {
    let token = String(repeating: "c1", count: 32) + "x"
    let error = #expect(throws: APIError.self) {
      try arguments(.devices, #"{"app": "customer", "owner_id": "c", "token": "\#(token)"}"#)
    }
    #expect(error?.message.contains("c1c1") == false)
  }

  /// Path parameters, and the field that is refused; nil if they are accepted.
  @Test(
    arguments: [
      (APICall.deleteDevice, ["app": "customer", "token": "A1b2"], nil),
      (.deleteDevice, ["app": "costumer", "token": "ab"], "app"),
      (.deleteDevice, ["app": "customer", "token": "a b"], "token"),
      (.deletePushToStart, ["app": "customer", "token": "%61b"], "token"),
      (.deleteLiveActivity, ["app": "customer", "activity_id": "a/ü %"], nil),
      (.deleteLiveActivity, ["app": "customer", "activity_id": "a\u{0}"], "activity_id"),
      (
        .deleteLiveActivity,
        ["app": "customer", "activity_id": String(repeating: "a", count: 513)], "activity_id"
      ),
    ] as [(APICall, [String: String], String?)])
  func `R77: parts of a path are checked like fields`(
    call: APICall, parameters: [String: String], field: String?
  ) throws {
    var request = HTTPRequest(method: call.method, path: call.path, headers: [:], body: [])
    request.parameters = parameters
    guard let field else {
      let arguments = try call.arguments(of: request, apps: [.customer])
      #expect(arguments == parameters.mapValues { .string($0) })
      return
    }
    let error = #expect(throws: APIError.self) {
      try call.arguments(of: request, apps: [.customer])
    }
    #expect(error?.code == .invalidValue && error?.field == field)
  }

  @Test func `optional fields that are null are left out`() throws {
    #expect(
      try arguments(.events, #"{"event": "x", "ride_id": "r", "data": null}"#)
        == ["event": .string("x"), "ride_id": .string("r")])
  }

  @Test(
    arguments: [
      (nil, nil), ("k", "k"),
      (String(repeating: "~", count: 255), String(repeating: "~", count: 255)),
    ] as [(String?, String?)])
  func `a key is read`(given: String?, key: String?) throws {
    #expect(try IdempotencyKey.of(request(given)) == key)
  }

  @Test(arguments: ["", "a b", "ä", "\u{7f}", String(repeating: "k", count: 256)])
  func `what is no key is refused`(given: String) {
    #expect(throws: APIError.self) { try IdempotencyKey.of(request(given)) }
  }

  private func request(_ key: String?) -> HTTPRequest {
    var headers: [String: String] = [:]
    headers["idempotency-key"] = key
    return HTTPRequest(method: "POST", path: "/v1/events", headers: headers, body: [])
  }

  @Test func `codes and statuses never change`() {
    #expect(
      APIError.Code.allCases.map { "\($0.status) \($0.rawValue)" } == [
        "400 invalid_json", "400 invalid_idempotency_key", "400 invalid_path",
        "400 invalid_request", "400 cell_missing", "401 unauthorized",
        "403 forbidden", "404 not_found", "404 unknown_ride", "404 not_recorded",
        "405 method_not_allowed",
        "409 request_in_progress", "409 wrong_state", "410 cursor_lost", "413 body_too_large",
        "415 unsupported_media_type", "422 unknown_field", "422 missing_field", "422 wrong_type",
        "422 invalid_value", "422 unknown_event", "422 idempotency_key_reused", "422 refused",
        "422 rules_refused",
        "503 busy", "503 database_unavailable", "503 unknown_outcome",
        "503 database_not_ready",
      ])
  }

  @Test func `a phone's token is passed as it was sent, also in a path`() throws {
    let token = "cAbDefGhIjKlMnOpQrStU_:APA91b-"
    let given: [String: JSONValue] = [
      "app": .string("customer"), "owner_id": .string("c"), "token": .string(token),
      "platform": .string("android"),
    ]
    #expect(try APICall.devices.arguments(given, apps: [.customer]) == given)
    var request = HTTPRequest(method: "DELETE", path: "", headers: [:], body: [])
    request.parameters = ["app": "customer", "token": token]
    #expect(
      try APICall.deleteDevice.arguments(of: request, apps: [.customer])
        == ["app": .string("customer"), "token": .string(token)])
  }

  @Test func `the owner of a card to end is a parameter, and a misspelled one is refused`() throws {
    var request = HTTPRequest(method: "DELETE", path: "", headers: [:], body: [])
    request.parameters = ["app": "customer", "activity_id": "7.r1"]
    var expected: [String: JSONValue] = [
      "app": .string("customer"), "activity_id": .string("7.r1"),
    ]
    func arguments() throws -> [String: JSONValue] {
      try APICall.deleteLiveActivity.arguments(of: request, apps: [.customer])
    }
    #expect(try arguments() == expected)
    request.query = ["owner_id": "c1"]
    expected["owner_id"] = .string("c1")
    #expect(try arguments() == expected)
    request.query = ["owner": "c1"]
    let error = #expect(throws: APIError.self) { try arguments() }
    #expect(error?.code == .unknownField && error?.field == "owner")
    #expect(error?.message.contains("did you mean owner_id?") == true)
    request.query = ["owner_id": ""]
    #expect(throws: APIError.self) { try arguments() }
  }

  @Test func `each ID, name and token has 512 bytes at most, and the answer names the field`()
    throws
  {
    for call in APICall.all {
      let good = Dictionary(
        uniqueKeysWithValues: call.fields.compactMap { field -> (String, JSONValue)? in
          switch field.kind {
          case .word: (field.name, .string(String(repeating: "é", count: 256)))
          case .platform: (field.name, .string("ios"))
          case .token, .phoneToken:
            (field.name, .string(String(repeating: "a1", count: 256)))
          case .app: (field.name, .string("customer"))
          case .payload: (field.name, .object([:]))
          case .topic: (field.name, .string(String(repeating: "t", count: 64)))
          case .pushID: (field.name, .string("6f1c1b7e-0000-4000-8000-000000000001"))
          case .flag: (field.name, .bool(true))
          case .environment, .object, .time, .timeZone, .expiry, .pushType, .priority,
            .channel, .collapseID, .participants, .cardEnd:
            nil
          }
        })
      _ = try call.arguments(good, apps: [.customer])
      for (name, value) in good where !["app", "topic", "apns_id", "platform"].contains(name) {
        guard case .string(let text) = value else { continue }
        let long = good.merging([name: .string(text + "a1")]) { $1 }
        let error = #expect(throws: APIError.self) {
          try call.arguments(long, apps: [.customer])
        }
        #expect(error?.code == .invalidValue && error?.field == name, "\(call.name) \(name)")
        #expect(error?.message.contains("512") == true)
      }
    }
  }
}
