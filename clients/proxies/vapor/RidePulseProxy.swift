// A phone's calls, through your backend to RidePulse: docs/app.md, Through your backend. Vapor 4.
//   try app.register(collection: RidePulseProxy(url: …, token: …, person: …, isRide: …))
import Foundation
import Vapor

/// Whose session it is, with the apps of the rules.
struct RidePerson: Sendable {
  let owner: String
  let apps: [String]
}

struct RidePulseProxy: RouteCollection {
  let url: String
  let token: String
  /// Returns who has a request's session; nil without one.
  let person: @Sendable (Request) async throws -> RidePerson?
  /// Whether a ride is of a person.
  let isRide: @Sendable (_ ride: String, _ owner: String) async throws -> Bool

  func boot(routes: any RoutesBuilder) throws {
    for name in ["devices", "push-to-start", "live-activities", "contact", "seen"] {
      routes.on(.POST, "push", "v1", "\(name)", body: .collect(maxSize: "64kb")) {
        try await report($0, name)
      }
    }
    routes.on(.PUT, "push", "v1", "preferences", body: .collect(maxSize: "64kb")) {
      try await report($0, "preferences")
    }
    for name in ["devices", "push-to-start", "live-activities"] {
      routes.on(.DELETE, "push", "v1", "\(name)", ":app", ":id", body: .collect) {
        try await withdraw($0, name)
      }
    }
  }

  /// Whose call it is, the session decides, not what the phone claims.
  /// The route names the call: a path may be written in other ways that lead to the same route.
  private func report(_ request: Request, _ name: String) async throws -> Response {
    guard let person = try await person(request) else { throw Abort(.unauthorized) }
    var call = try request.content.decode(PhoneCall.self)
    if name == "live-activities" {
      guard let ride = call.ride_id, try await isRide(ride, person.owner),
        !isAndroidCard(call.activity_id ?? "")
      else { throw Abort(.forbidden) }
    }
    let isReceipt = name == "seen"
    let app = call.app.flatMap { person.apps.contains($0) ? $0 : nil } ?? person.apps.first
    (call.app, call.owner_id) = isReceipt ? (nil, nil) : (app, person.owner)
    return try await forward(request, "/v1/\(name)", JSONEncoder().encode(call))
  }

  /// RidePulse gives these IDs, such as `17.r1`, and phones register none of them.
  private func isAndroidCard(_ activity: String) -> Bool {
    let digits = activity.utf8.prefix { (48...57).contains($0) }
    return !digits.isEmpty && activity.utf8.dropFirst(digits.count).first == UInt8(ascii: ".")
  }

  private func withdraw(_ request: Request, _ name: String) async throws -> Response {
    guard let person = try await person(request) else { throw Abort(.unauthorized) }
    let parts = request.url.path.split(separator: "/").map(String.init)
    // As the phone encoded it: a slash is %2F, and a point at its beginning a parent.
    guard parts.count == 5, !parts[4].lowercased().hasPrefix("%2e"), !parts[4].hasPrefix("."),
      person.apps.contains(parts[3])
    else { throw Abort(.forbidden) }
    var path = "/v1/\(name)/\(parts[3])/\(parts[4])"
    let owner = person.owner.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    if name == "live-activities" {
      let reason = request.url.query?.split(separator: "&").first { $0 == "reason=signed_out" }
      path += "?owner_id=\(owner)\(reason.map { "&\($0)" } ?? "")"
    }
    return try await forward(request, path, nil)
  }

  private func forward(_ request: Request, _ path: String, _ body: Data?) async throws -> Response {
    let headers = HTTPHeaders(
      [("Authorization", "Bearer \(token)")]
        + (body == nil ? [] : [("Content-Type", "application/json")])
        + request.headers["Idempotency-Key"].prefix(1).map { ("Idempotency-Key", $0) })
    let answer = try await request.client.send(
      request.method, headers: headers, to: URI(string: url + path)
    ) {
      $0.timeout = .seconds(10)
      $0.body = body.map { ByteBuffer(data: $0) }
    }
    // RidePulse refuses the backend, not the phone, whose session is good.
    if answer.status == .unauthorized || answer.status == .forbidden {
      throw Abort(.serviceUnavailable)
    }
    let passed = ["Content-Type", "Retry-After"].flatMap { name in
      answer.headers[name].map { (name, $0) }
    }
    return Response(
      status: answer.status, headers: HTTPHeaders(passed),
      body: answer.body.map { Response.Body(buffer: $0) } ?? .empty)
  }
}

/// The fields of a phone's calls, as docs/api.md has them.
struct PhoneCall: Codable, Sendable {
  var app, owner_id, token, environment, installation_id, locale, platform, time_zone,
    app_version: String?
  var attributes_type, ride_id, activity_id, apns_id, topic: String?
  var alerts, frequent, allowed: Bool?
}
