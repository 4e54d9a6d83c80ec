import RideCore

/// Why a call of the API was refused: a code for programs, a sentence for people.
package struct APIError: Error, Hashable, Sendable {
  /// What programs go by. Words and statuses never change; there may be more of them one day.
  package enum Code: String, CaseIterable, Sendable {
    /// The body is no JSON object.
    case invalidJSON = "invalid_json"
    /// `Idempotency-Key` is no key.
    case invalidIdempotencyKey = "invalid_idempotency_key"
    /// Wrong or no token.
    case unauthorized
    /// The service has no token, so that nobody may.
    case forbidden
    /// No such path.
    case notFound = "not_found"
    /// Nothing is known of the ride.
    case unknownRide = "unknown_ride"
    /// The path takes another method.
    case methodNotAllowed = "method_not_allowed"
    /// The first request of that key has no answer yet.
    case requestInProgress = "request_in_progress"
    /// The body is too large.
    case bodyTooLarge = "body_too_large"
    /// The body is not said to be JSON.
    case unsupportedMediaType = "unsupported_media_type"
    /// The call has no such field.
    case unknownField = "unknown_field"
    /// A field that is needed is not there.
    case missingField = "missing_field"
    /// A field is of another JSON type.
    case wrongType = "wrong_type"
    /// A field's value can't be.
    case invalidValue = "invalid_value"
    /// The key was given with another request before.
    case idempotencyKeyReused = "idempotency_key_reused"
    /// Postgres refused the values.
    case refused
    /// Too many requests are being answered; nothing was done.
    case busy
    /// The database is away; nothing was done.
    case databaseUnavailable = "database_unavailable"
    /// The database's answer was lost: the call may have taken effect.
    case unknownOutcome = "unknown_outcome"
    /// The database lacks something that the service needs, such as a right of its role.
    case databaseNotReady = "database_not_ready"

    /// The status that it comes with.
    package var status: Int {
      switch self {
      case .invalidJSON, .invalidIdempotencyKey: 400
      case .unauthorized: 401
      case .forbidden: 403
      case .notFound, .unknownRide: 404
      case .methodNotAllowed: 405
      case .requestInProgress: 409
      case .bodyTooLarge: 413
      case .unsupportedMediaType: 415
      case .unknownField, .missingField, .wrongType, .invalidValue, .idempotencyKeyReused,
        .refused:
        422
      case .busy, .databaseUnavailable, .unknownOutcome, .databaseNotReady: 503
      }
    }
  }

  /// What programs go by.
  package var code: Code
  /// What is wrong, and what to do.
  package var message: String
  /// The field that is wrong, where it is one.
  package var field: String?

  /// A refusal.
  package init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }

  /// The refusal as it is answered.
  package var response: HTTPResponse {
    var members: [String: JSONValue] = [
      "code": .string(code.rawValue), "message": .string(message),
    ]
    if let field { members["field"] = .string(field) }
    var response = HTTPResponse.json(code.status, .object(["error": .object(members)]))
    switch code {
    case .requestInProgress, .busy, .databaseUnavailable, .unknownOutcome:
      response.headers["Retry-After"] = "1"
    default: break
    }
    return response
  }
}

extension HTTPResponse {
  /// A JSON value.
  static func json(_ status: Int, _ value: JSONValue) -> HTTPResponse {
    .json(status, String(decoding: value.json, as: UTF8.self))
  }

  /// A text that is JSON.
  package static func json(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "application/json", body: Array((text + "\n").utf8))
  }

  /// The same answer as callers of a path expect it: a refusal that was written for people, by what
  /// knows nothing of the API, is JSON under `/v1`.
  func inForm(of path: String) -> HTTPResponse {
    let isOfAPI = path == "/v1" || path.hasPrefix("/v1/")
    guard isOfAPI, status >= 400, contentType.hasPrefix("text/plain"),
      let code = APIError.Code.ofTransport.first(where: { $0.status == status })
    else { return self }
    let text = String(decoding: body, as: UTF8.self)
    var response = APIError(code, text.hasSuffix("\n") ? String(text.dropLast()) : text).response
    response.headers.merge(headers) { $1 }
    return response
  }
}

extension APIError.Code {
  /// Those that are found out before any call.
  fileprivate static let ofTransport: [Self] = [
    .unauthorized, .forbidden, .notFound, .methodNotAllowed, .bodyTooLarge, .busy,
  ]
}
