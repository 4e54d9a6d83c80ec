package import Base
import Foundation
import RideCore

package enum APIBody {
  /// The maximum nesting depth of objects and arrays; code that reads an event's data is recursive.
  static let depthLimit = 32

  /// Returns the members of the body.
  ///
  /// - Throws: `unsupportedMediaType`, or `invalidJSON` with the line and column of the error.
  package static func members(of request: HTTPRequest) throws(APIError) -> [String: JSONValue] {
    let type = request.headers["content-type"] ?? ""
    let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    guard essence == "application/json" else {
      throw APIError(
        .unsupportedMediaType,
        "the body is \(type.isEmpty ? "without a type" : clipped(type)); send Content-Type: application/json"
      )
    }
    return try members(of: request.body)
  }

  static func members(of body: [UInt8]) throws(APIError) -> [String: JSONValue] {
    if body.allSatisfy({ [9, 10, 13, 32].contains($0) }) {
      throw APIError(.invalidJSON, "the body is empty; send a JSON object")
    }
    guard String(validating: body, as: UTF8.self) != nil else {
      throw APIError(.invalidJSON, "the body is not UTF-8; send a JSON object in UTF-8")
    }
    let value: JSONValue
    do throws(JSONParser.Fault) {
      value = try JSONParser.parse(body, depthLimit: depthLimit)
    } catch {
      throw APIError(
        .invalidJSON, "the body is not JSON at \(error.location(in: body)): \(error.what)")
    }
    guard case .object(let members) = value else {
      throw APIError(.invalidJSON, "the body is JSON, but not an object; send {…}")
    }
    return members
  }

  /// Quotes a caller's text for an error message: shortened to 60 characters, on one line.
  static func clipped(_ text: String) -> String {
    let word = text.unicodeScalars.prefix(60).map { scalar in
      scalar.properties.generalCategory == .control ? "�" : String(scalar)
    }.joined()
    return "\"\(word)\(text.unicodeScalars.count > 60 ? "…" : "")\""
  }
}
