import Foundation
import Testing

@testable import RidePulseKit

/// What a call asks, and what an answer means.
@Suite struct CallTests {
  private static let identity = CallQueue.Identity(
    app: "customer", installation: "i/1", environment: .sandbox, process: "p")
  private static let phone = PhoneReport(
    app: "customer", token: "0a", locale: "de", timeZone: "Europe/Berlin", alerts: false,
    appVersion: "1.2")

  private static let requests: [(Report, String)] = [
    (
      .phone(phone),
      """
      POST /v1/devices {"alerts":false,"app":"customer","app_version":"1.2","environment":"sandbox",\
      "installation_id":"i/1","locale":"de","owner_id":"a b","time_zone":"Europe/Berlin","token":"0a"}
      """
    ),
    (
      .phone(PhoneReport(app: "customer_controls", token: "0b", isOnlyOne: false)),
      """
      POST /v1/devices {"app":"customer_controls","environment":"sandbox","owner_id":"a b","token":"0b"}
      """
    ),
    (
      .start(type: "Ride", token: "0c"),
      """
      POST /v1/push-to-start {"app":"customer","attributes_type":"Ride","environment":"sandbox",\
      "installation_id":"i/1","owner_id":"a b","token":"0c"}
      """
    ),
    (
      .card(CardReport(activityID: "A1", ride: "r/1", token: "0d", isFrequent: true)),
      """
      POST /v1/live-activities {"activity_id":"A1","app":"customer","environment":"sandbox",\
      "frequent":true,"installation_id":"i/1","owner_id":"a b","ride_id":"r/1","token":"0d"}
      """
    ),
    (.contact, #"POST /v1/contact {"app":"customer","installation_id":"i/1","owner_id":"a b"}"#),
    (.seen("u"), #"POST /v1/seen {"apns_id":"u"}"#),
    (.withdrawPhone(app: "customer", token: "0a", lane: ""), "DELETE /v1/devices/customer/0a "),
    (.withdrawStart(type: "Ride", token: "0c"), "DELETE /v1/push-to-start/customer/0c "),
    (.endCard("A/1"), "DELETE /v1/live-activities/customer/A%2F1?owner_id=a%20b "),
    (
      .withdrawCard("A/1"),
      "DELETE /v1/live-activities/customer/A%2F1?owner_id=a%20b&reason=signed_out "
    ),
  ]

  @Test(arguments: requests.indices) func `A report is the call that docs/api.md describes`(
    _ row: Int
  )
    throws
  {
    let (report, expected) = Self.requests[row]
    let parts = RequestParts(report, owner: "a b", identity: Self.identity)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let body = try parts.body.map { String(decoding: try encoder.encode($0), as: UTF8.self) } ?? ""
    #expect("\(parts.method) \(parts.path) \(body)" == expected)
    // Logs have no tokens.
    for token in ["0a", "0b", "0c", "0d"] { #expect(!report.name.contains(token)) }
  }

  private static let answers:
    [(status: Int, after: Double?, report: Report, farewell: Bool, CallResult)] =
      [
        (200, nil, .contact, false, .done), (204, nil, .seen("u"), false, .done),
        (404, nil, .endCard("A1"), false, .done), (404, nil, .contact, false, .refused("404")),
        (401, nil, .contact, false, .failed("401", isAnswer: true)),
        (401, nil, .withdrawPhone(app: "customer", token: "0a", lane: ""), true, .refused("401")),
        (403, nil, .contact, false, .refused("403")),
        (409, 1, .contact, false, .failed("409", after: 1, isAnswer: true)),
        (409, nil, .contact, false, .refused("409")), (422, nil, .contact, false, .refused("422")),
        (429, 30, .contact, false, .failed("429", after: 30, isAnswer: true)),
        (503, nil, .contact, false, .failed("503", isAnswer: true)),
        (302, nil, .contact, false, .refused("302")),
      ]

  @Test(arguments: answers.indices) func `An answer is done, repeated or refused`(_ row: Int) {
    let (status, after, report, farewell, expected) = Self.answers[row]
    #expect(
      CallResult(status: status, retryAfter: after, report: report, isFarewell: farewell)
        == expected)
  }

  @Test(
    arguments: [
      (1, 0, nil, 1), (1, 1, nil, 0.5), (3, 0, nil, 4), (11, 0, nil, 900), (900, 0, nil, 900),
      (0, 7, nil, 0.5), (1, 0, 20, 20), (9, 0, 20, 256), (1, 0, 1e9, 3600), (1, 0, -5, 1),
    ] as [(Int, Double, Double?, Double)])
  func `Pauses double up to 15 minutes, and last as long as the backend asks`(
    _ attempts: Int, _ jitter: Double, _ retryAfter: Double?, _ expected: Double
  ) {
    #expect(
      Backoff.delay(attempts: attempts, jitter: jitter, retryAfter: retryAfter) == expected)
  }

  @Test(
    arguments: [
      ("<key>aps-environment</key><string>development</string>", .sandbox),
      ("<key>aps-environment</key><string>production</string>", .production),
      ("<key>aps-environment</key><string>x</string>", nil), ("", nil),
    ] as [(String, PushEnvironment?)])
  func `The environment is that of the entitlement in a provisioning profile`(
    _ entitlement: String, _ expected: PushEnvironment?
  ) {
    let list = """
      <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>Name</key><string>x</string>\
      <key>Entitlements</key><dict>\(entitlement)</dict></dict></plist>
      """
    let signed = Data([0x30, 0x82, 0xff, 0x00]) + Data(list.utf8) + Data([0xa0, 0x00, 0xfe])
    #expect(PushEnvironment(profile: signed) == expected)
    #expect(PushEnvironment(profile: signed.prefix(90)) == nil)
  }

  @Test func `A token is written in lower-case hexadecimal`() {
    #expect(Data([0x00, 0x0a, 0xff, 0x10]).hexadecimal == "000aff10")
  }
}
