import Base
import Foundation
import RideCore
import TestSupport

/// Calls a service over HTTP with curl.
struct APIClient {
  let url: String
  var token: String? = "sesame-42"

  /// The response of a call.
  struct Answer: CustomStringConvertible {
    var status: Int
    /// By lower-case name.
    var headers: [String: String]
    var text: String

    var body: JSONValue? { JSONValue(json: text.utf8) }
    var code: String? { string("error", "code") }
    var field: String? { string("error", "field") }
    var eventID: Int64? {
      if case .integer(let id) = body?.value(at: ["event_id"]) { id } else { nil }
    }
    var description: String { "\(status) \(headers) \(text)" }

    func string(_ path: String...) -> String? {
      if case .string(let text) = body?.value(at: path) { text } else { nil }
    }
  }

  /// Starts a service with an admin server on a port of its own; returns both it and a client.
  static func serve(
    _ environment: [String: String], token: String? = "sesame-42"
  ) async throws -> (server: Server, client: APIClient) {
    var environment = environment
    environment["RIDEPULSE_ADMIN"] = environment["RIDEPULSE_ADMIN_HOST"] ?? "127.0.0.1:0"
    environment["RIDEPULSE_ADMIN_TOKEN"] = token
    let server = try Server(environment)
    try await server.waitForLog("Admin server")
    let port = server.log.firstMatch(of: /Admin server.* port=(\d+)/)?.output.1 ?? ""
    return (server, APIClient(url: "http://127.0.0.1:\(port)", token: token))
  }

  func get(_ path: String) throws -> Answer { try ask(path, []) }

  func post(_ path: String, _ body: String, key: String? = nil) throws -> Answer {
    try post(path, Array(body.utf8), key.map { ["Idempotency-Key: \($0)"] } ?? [])
  }

  func post(
    _ path: String, _ body: [UInt8], _ headers: [String], type: String? = "application/json"
  ) throws -> Answer {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(body).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let headers = ["Content-Type:\(type.map { " " + $0 } ?? "")"] + headers
    return try ask(
      path, ["--data-binary", "@\(file.path)"] + headers.flatMap { ["--header", $0] })
  }

  /// Sends a request of any method; nil sends no body.
  func send(_ method: String, _ path: String, _ body: String?, key: String? = nil) throws -> Answer
  {
    let data = body.map { ["--header", "Content-Type: application/json", "--data-binary", $0] }
    let key = key.map { ["--header", "Idempotency-Key: \($0)"] }
    return try ask(path, ["--request", method] + (data ?? []) + (key ?? []))
  }

  func ask(_ path: String, _ words: [String]) throws -> Answer {
    let authorization = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
    let result = try Command.run(
      "/usr/bin/curl",
      ["--silent", "--show-error", "--include", "--max-time", "120", "--header", "Expect:"]
        + authorization + words + [url + path])
    let parts = result.output.replacing("\r\n", with: "\n").split(
      separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
    let head = (parts.first ?? "").split(separator: "\n")
    guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { throw TestFailure("no answer of \(path): \(result.errors)") }
    var headers: [String: String] = [:]
    for line in head.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...]
        .trimmingCharacters(in: .whitespaces)
    }
    return Answer(status: status, headers: headers, text: parts.count > 1 ? String(parts[1]) : "")
  }
}

extension Stage {
  /// Copies all events that are ever committed, since the engine deletes those it has handled.
  func keepEvents() async throws {
    try await sql(
      """
      create table public.seen (id bigint, event text, ride_id text, data jsonb);
      create function public.record_event() returns trigger language plpgsql as
        'begin insert into public.seen values (new.id, new.event, new.ride_id, new.data); return null; end';
      create trigger record_event after insert on ridepulse.events for each row execute function public.record_event()
      """)
  }
}
