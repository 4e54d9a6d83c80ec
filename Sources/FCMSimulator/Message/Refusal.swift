import SimulatorKit

/// An error in the form of Google's APIs, with FCM's own word for it if it has one.
struct Refusal: Error, Equatable {
  var status: Int
  /// The canonical code of google.rpc.
  var canonical: String
  var message: String
  /// FCM's word; nil for errors that FCM itself does not see.
  var code: String?
  /// The field that is wrong.
  var field: String?
  /// The reason of an `ErrorInfo`.
  var reason: String?
  /// What a quota is counted for.
  var quotaSubject: String?
  var retryAfterSeconds: Int?

  /// The word of the record.
  var word: String { code ?? reason ?? canonical }

  var answer: Answer {
    var headers = [Header(name: "content-type", value: "application/json; charset=UTF-8")]
    if let seconds = retryAfterSeconds {
      headers.append(Header(name: "retry-after", value: String(seconds)))
    }
    return Answer(status: status, headers: headers, body: json.serialized)
  }

  private var json: JSON {
    var members: [String: JSON] = [
      "code": .integer(status), "message": .string(message), "status": .string(canonical),
    ]
    if !details.isEmpty { members["details"] = .array(details) }
    return .object(["error": .object(members)])
  }

  private static let types = "type.googleapis.com/"

  /// FCM's word is not always the first of the details.
  private var details: [JSON] {
    var details: [JSON] = []
    if let field {
      let violation: [String: JSON] = ["field": .string(field), "description": .string(message)]
      details.append(
        .object([
          "@type": .string(Self.types + "google.rpc.BadRequest"),
          "fieldViolations": .array([.object(violation)]),
        ]))
    }
    if let quotaSubject {
      let violation: [String: JSON] = [
        "subject": .string(quotaSubject), "description": .string(message),
      ]
      details.append(
        .object([
          "@type": .string(Self.types + "google.rpc.QuotaFailure"),
          "violations": .array([.object(violation)]),
        ]))
    }
    if let reason {
      details.append(
        .object([
          "@type": .string(Self.types + "google.rpc.ErrorInfo"), "reason": .string(reason),
          "domain": .string("googleapis.com"),
        ]))
    }
    if let code {
      details.append(
        .object([
          "@type": .string(Self.types + "google.firebase.fcm.v1.FcmError"),
          "errorCode": .string(code),
        ]))
    }
    return details
  }
}

extension Refusal {
  /// A request that does not have the form of the API; FCM itself has not seen it.
  static func malformed(_ message: String, field: String? = nil) -> Refusal {
    Refusal(status: 400, canonical: "INVALID_ARGUMENT", message: message, field: field)
  }

  static func invalid(_ message: String, field: String? = nil) -> Refusal {
    Refusal(
      status: 400, canonical: "INVALID_ARGUMENT", message: message, code: "INVALID_ARGUMENT",
      field: field)
  }

  static func unauthenticated(_ message: String, _ reason: String?) -> Refusal {
    Refusal(status: 401, canonical: "UNAUTHENTICATED", message: message, reason: reason)
  }

  static let unregistered = Refusal(
    status: 404, canonical: "NOT_FOUND", message: "Requested entity was not found.",
    code: "UNREGISTERED")

  static let otherProject = Refusal(
    status: 403, canonical: "PERMISSION_DENIED", message: "SenderId mismatch",
    code: "SENDER_ID_MISMATCH")

  static let unknownProject = Refusal(
    status: 404, canonical: "NOT_FOUND", message: "Requested entity was not found.")

  static func forbidden(_ project: String) -> Refusal {
    Refusal(
      status: 403, canonical: "PERMISSION_DENIED",
      message: "Permission 'cloudmessaging.messages.create' denied on resource "
        + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).")
  }

  static func quota(_ subject: String, _ message: String, retryAfter: Int) -> Refusal {
    Refusal(
      status: 429, canonical: "RESOURCE_EXHAUSTED", message: message, code: "QUOTA_EXCEEDED",
      quotaSubject: subject, retryAfterSeconds: retryAfter)
  }
}
