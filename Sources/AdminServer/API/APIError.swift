package import Base
import RideCore

/// A refused API call: a code for programs and a sentence for people.
package struct APIError: Error, Hashable, Sendable {
  /// An error code for programs.
  ///
  /// Names and statuses never change; new codes may be added.
  package enum Code: String, CaseIterable, Sendable {
    /// The body is not a JSON object.
    case invalidJSON = "invalid_json"
    /// `Idempotency-Key` is malformed.
    case invalidIdempotencyKey = "invalid_idempotency_key"
    /// The path is not UTF-8 with percent-encoding.
    case invalidPath = "invalid_path"
    /// A proxy may read the request in another way.
    case invalidRequest = "invalid_request"
    /// The service has several cells, and the path names none.
    case cellMissing = "cell_missing"
    case unauthorized
    /// The service has no token configured, so that every writing call is refused.
    case forbidden
    case notFound = "not_found"
    /// No data of this ride exists.
    case unknownRide = "unknown_ride"
    /// A search found nothing.
    case notRecorded = "not_recorded"
    case methodNotAllowed = "method_not_allowed"
    /// The first request with the same key has no answer yet.
    case requestInProgress = "request_in_progress"
    /// The event has the name of a state in which the ride is not.
    case wrongState = "wrong_state"
    /// The verdicts after the cursor can no longer be determined.
    case cursorLost = "cursor_lost"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case unknownField = "unknown_field"
    case missingField = "missing_field"
    case wrongType = "wrong_type"
    case invalidValue = "invalid_value"
    /// No rule file declares the event.
    case unknownEvent = "unknown_event"
    /// The key was used with a different request before.
    case idempotencyKeyReused = "idempotency_key_reused"
    /// Postgres rejected the values.
    case refused
    /// The rule files have problems, and the rules before them stay in use.
    case rulesRefused = "rules_refused"
    /// Too many requests are in progress; this one had no effect.
    case busy
    /// The database is unavailable; the call had no effect.
    case databaseUnavailable = "database_unavailable"
    /// The database's answer was lost; the call may have taken effect.
    case unknownOutcome = "unknown_outcome"
    /// The database lacks something that the service needs, such as a privilege of its role.
    case databaseNotReady = "database_not_ready"

    package var status: Int {
      switch self {
      case .invalidJSON, .invalidIdempotencyKey, .invalidPath, .invalidRequest, .cellMissing: 400
      case .unauthorized: 401
      case .forbidden: 403
      case .notFound, .unknownRide, .notRecorded: 404
      case .methodNotAllowed: 405
      case .requestInProgress, .wrongState: 409
      case .cursorLost: 410
      case .bodyTooLarge: 413
      case .unsupportedMediaType: 415
      case .unknownField, .missingField, .wrongType, .invalidValue, .unknownEvent,
        .idempotencyKeyReused, .refused, .rulesRefused:
        422
      case .busy, .databaseUnavailable, .unknownOutcome, .databaseNotReady: 503
      }
    }
  }

  package var code: Code
  /// What is wrong, and what to do.
  package var message: String
  /// The field that is wrong; nil if the error is not about a field.
  package var field: String?

  package init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }

  package var response: HTTPResponse { response(with: [:]) }

  /// Returns the response with further members next to `error`.
  package func response(with members: [String: JSONValue]) -> HTTPResponse {
    var error: [String: JSONValue] = [
      "code": .string(code.rawValue), "message": .string(message),
    ]
    if let field { error["field"] = .string(field) }
    var members = members
    members["error"] = .object(error)
    var response = HTTPResponse.json(code.status, .object(members))
    switch code {
    case .requestInProgress, .busy, .databaseUnavailable, .unknownOutcome:
      response.headers["Retry-After"] = "1"
    default: break
    }
    return response
  }
}

extension APIError {
  /// Returns the response to a request of the path: JSON below `/v1`, also of a cell, plain text elsewhere.
  package func response(below path: String) -> HTTPResponse {
    Self.isOfAPI(path) ? response : .text(code.status, message)
  }

  fileprivate static func isOfAPI(_ path: String) -> Bool {
    var path = path[...]
    // /cells/NAME/v1/…
    if path.hasPrefix("/cells/") {
      path = path.dropFirst("/cells/".count).drop { $0 != "/" }
    }
    return path == "/v1" || path.hasPrefix("/v1/")
  }
}

extension HTTPResponse {
  package static func json(_ status: Int, _ value: JSONValue) -> HTTPResponse {
    .json(status, String(decoding: value.json, as: UTF8.self))
  }

  /// Returns a response whose body is a text that is already JSON.
  package static func json(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "application/json",
      body: text.isEmpty ? [] : Array((text + "\n").utf8))
  }

  /// Returns the response in the format of the path.
  ///
  /// A plain-text refusal by code that does not depend on the API becomes a JSON error under `/v1`.
  func inForm(of path: String) -> HTTPResponse {
    guard APIError.isOfAPI(path), status >= 400, contentType.hasPrefix("text/plain"),
      let code = APIError.Code.ofTransport.first(where: { $0.status == status })
    else { return self }
    let text = String(decoding: body, as: UTF8.self)
    var response = APIError(code, text.hasSuffix("\n") ? String(text.dropLast()) : text).response
    response.headers.merge(headers) { $1 }
    return response
  }
}

extension APIError.Code {
  /// Codes of the errors that are detected before a call is run.
  fileprivate static let ofTransport: [Self] = [
    .invalidPath, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .bodyTooLarge, .busy,
  ]
}
