import Base
import RideCore
import Testing

@testable import PushClient

@Suite struct FCMAnswerTests {
  private static let types = "type.googleapis.com/"

  private static func fcmError(_ code: String) -> String {
    #"{"@type":"\#(types)google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  private static func badRequest(_ field: String) -> String {
    #"{"@type":"\#(types)google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)"}]}"#
  }

  private static func quotaFailure(_ subject: String) -> String {
    #"{"@type":"\#(types)google.rpc.QuotaFailure","violations":[{"subject":"\#(subject)"}]}"#
  }

  private static func body(
    _ status: String, _ details: String..., message: String = "Some text."
  ) -> String {
    #"{"error":{"code":400,"message":"\#(message)","status":"\#(status)","details":["#
      + details.joined(separator: ",") + "]}}"
  }

  @Test(
    "The word of a refusal is that of FcmError, wherever it is among the details",
    arguments: [
      (404, body("NOT_FOUND", fcmError("UNREGISTERED")), "UNREGISTERED"),
      (403, body("PERMISSION_DENIED", fcmError("SENDER_ID_MISMATCH")), "SENDER_ID_MISMATCH"),
      (400, body("INVALID_ARGUMENT", fcmError("INVALID_ARGUMENT")), "INVALID_ARGUMENT"),
      (
        400,
        body(
          "INVALID_ARGUMENT", #"{"@type":"x.y/unknown.Type","a":[1]}"#, badRequest("message.ttl"),
          fcmError("INVALID_ARGUMENT")), "INVALID_ARGUMENT"
      ),
      (401, body("UNAUTHENTICATED", fcmError("THIRD_PARTY_AUTH_ERROR")), "THIRD_PARTY_AUTH_ERROR"),
      (503, body("UNAVAILABLE", fcmError("UNAVAILABLE")), "UNAVAILABLE"),
      (500, body("INTERNAL", fcmError("INTERNAL")), "INTERNAL"),
      (500, body("UNKNOWN", fcmError("UNSPECIFIED_ERROR")), "UNSPECIFIED_ERROR"),
    ])
  func word(status: Int, body: String, word: String) {
    #expect(FCMAnswer(status: status, Array(body.utf8)).word == word)
  }

  @Test(
    "An argument that is the registration has a word of its own",
    arguments: [
      (body("INVALID_ARGUMENT", badRequest("message.token"), fcmError("INVALID_ARGUMENT")), true),
      (body("INVALID_ARGUMENT", badRequest("message.fid"), fcmError("INVALID_ARGUMENT")), true),
      (body("INVALID_ARGUMENT", badRequest("message.token")), true),
      (
        body(
          "INVALID_ARGUMENT", fcmError("INVALID_ARGUMENT"),
          message: "The registration token is not a valid FCM registration token"), true
      ),
      (body("INVALID_ARGUMENT", badRequest("message"), fcmError("INVALID_ARGUMENT")), false),
      (body("INVALID_ARGUMENT", badRequest("message.data[0].value")), false),
    ])
  func registration(body: String, isOfRegistration: Bool) {
    #expect(
      FCMAnswer(status: 400, Array(body.utf8)).word
        == (isOfRegistration ? "INVALID_REGISTRATION" : "INVALID_ARGUMENT"))
  }

  @Test(
    "A rate is that of the device only if the answer names it",
    arguments: [
      (body("RESOURCE_EXHAUSTED", quotaFailure("device:cX3"), fcmError("QUOTA_EXCEEDED")), true),
      (body("RESOURCE_EXHAUSTED", quotaFailure("Device"), fcmError("QUOTA_EXCEEDED")), true),
      (body("RESOURCE_EXHAUSTED", quotaFailure("device")), true),
      (body("RESOURCE_EXHAUSTED", quotaFailure("project:x"), fcmError("QUOTA_EXCEEDED")), false),
      (body("RESOURCE_EXHAUSTED", fcmError("QUOTA_EXCEEDED")), false),
      ("", false), ("<html>device</html>", false),
    ])
  func quota(body: String, isOfDevice: Bool) {
    #expect(
      FCMAnswer(status: 429, Array(body.utf8)).word
        == (isOfDevice ? "DEVICE_QUOTA_EXCEEDED" : "QUOTA_EXCEEDED"))
  }

  @Test(
    "Without a word of FCM the status decides, and never gives up a registration",
    arguments: [
      (404, body("NOT_FOUND"), "PROJECT_NOT_FOUND"), (404, "<html>404</html>", "PROJECT_NOT_FOUND"),
      (404, "", "PROJECT_NOT_FOUND"), (403, body("PERMISSION_DENIED"), "PERMISSION_DENIED"),
      (401, body("UNAUTHENTICATED"), "UNAUTHENTICATED"), (401, "", "UNAUTHENTICATED"),
      (400, body("INVALID_ARGUMENT"), "INVALID_ARGUMENT"), (400, "<html/>", nil),
      (502, "<html>Bad gateway</html>", nil), (504, "", nil), (500, body("INTERNAL"), "INTERNAL"),
      (404, body("NOT_FOUND", fcmError("BRAND_NEW")), "PROJECT_NOT_FOUND"),
      (400, body("INVALID_ARGUMENT", fcmError("UNREGISTERED")), "INVALID_ARGUMENT"),
      (503, body("UNAVAILABLE", fcmError("UNREGISTERED")), "UNAVAILABLE"),
      (404, #"{"error":{"details":"UNREGISTERED"}}"#, "PROJECT_NOT_FOUND"),
      (404, #"{"error":{"details":[{"errorCode":"UNREGISTERED"}]}}"#, "PROJECT_NOT_FOUND"),
      (404, #"{"error":{"details":[null,7,[],{"@type":7}]}}"#, "PROJECT_NOT_FOUND"),
      (404, "[]", "PROJECT_NOT_FOUND"), (408, "", nil), (410, "", "PROJECT_NOT_FOUND"),
    ] as [(Int, String, String?)])
  func statusOnly(status: Int, body: String, word: String?) {
    #expect(FCMAnswer(status: status, Array(body.utf8)).word == word)
  }

  @Test(
    "Google's sentence is kept, and cut short",
    arguments: [
      ("Invalid value at 'message.data[0].value' (TYPE_STRING), 12", true), ("", false),
      (String(repeating: "x", count: 400), true),
    ])
  func detail(message: String, isKept: Bool) {
    let body = Self.body("INVALID_ARGUMENT", message: message)
    let detail = FCMAnswer(status: 400, Array(body.utf8)).detail
    #expect((detail != nil) == isKept)
    #expect(message.utf8.count > 300 ? detail != message : detail ?? "" == message)
    #expect(detail?.utf8.count ?? 0 <= 310)
    #expect(FCMAnswer(status: 502, Array("<html>".utf8)).detail == nil)
  }

  @Test func `a body of a thousand levels is no answer of FCM`() {
    let deep =
      #"{"error":"# + String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
      + "}"
    #expect(FCMAnswer(status: 404, Array(deep.utf8)).word == "PROJECT_NOT_FOUND")
    #expect(FCMAnswer(status: 400, Array(deep.utf8)).word == nil)
  }

  @Test(
    "The ID of an accepted message",
    arguments: [
      (
        #"{"name":"projects/rides/messages/0:1500415314455276%31bd1c96"}"#,
        "0:1500415314455276%31bd1c96"
      ),
      ("{\n  \"name\": \"projects/rides/messages/a-b_c\"\n}\n", "a-b_c"),
      (#"{"name":"projects/rides/messages/"}"#, nil), (#"{"name":"projects/rides"}"#, nil),
      (#"{"name":"projects/rides/messages/cut"#, nil), ("", nil),
      (#"{"name":"projects/rides/messages/a b"}"#, nil),
      (#"{"name":"projects/rides/messages/a\u0041"}"#, nil),
      (#"{"name":"projects/rides/messages/\#(String(repeating: "x", count: 129))"}"#, nil),
    ] as [(String, String?)])
  func messageID(body: String, id: String?) {
    #expect(FCMAnswer.messageID(Array(body.utf8)) == id)
  }
}
