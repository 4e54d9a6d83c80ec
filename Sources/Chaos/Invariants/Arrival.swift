import Base
import Foundation
import RideCore

/// One push as received by the simulator.
struct Arrival: Sendable {
  /// Seconds since 1970.
  let at: Double
  let connection: Int
  let stream: Int
  /// The HTTP status; 0 if the push got no answer.
  let status: Int
  /// The fault that the simulator applied; nil if none.
  let fault: String?
  let reason: String?
  let token: String
  let id: String
  let pushType: String
  /// The value of `apns-expiration`.
  let expiration: Int64
  /// The values of `aps.event` and `aps.timestamp` in a push to a card.
  let cardEvent: String?
  let timestamp: Int64?
  let ride: String
  /// The driver that the payload of a driver's push names.
  let driver: String?
  /// The customer that the payload of a note names.
  let customer: String?
  /// The body of an alert; nil if it is a localized one or there is none.
  let body: String?
  /// The node that sent the push.
  let node: String
  /// The value of `apns-collapse-id`.
  let collapseID: String
  /// The value of `apns-topic` without the suffix of a push type; it identifies the app.
  let bundleID: String

  /// Whether a GOAWAY declared the push as not processed, regardless of its answer.
  var isDisowned = false

  var isAccepted: Bool { status == 200 && !isDisowned }

  /// The seconds between the expiration and the arrival.
  var lateness: Double { at - Double(expiration) }

  /// Parses one line of `requests.jsonl`.
  init?(_ line: some Sequence<UInt8>) {
    guard let record = JSONValue(json: Array(line)) else { return nil }
    func text(_ path: String...) -> String? {
      switch record.value(at: path) {
      case .string(let text): text
      case .integer(let number): String(number)
      case .number(let number): String(number)
      default: nil
      }
    }
    at = text("received_at").flatMap(Double.init) ?? 0
    connection = text("connection").flatMap { Int($0) } ?? 0
    stream = text("stream").flatMap { Int($0) } ?? 0
    status = text("status").flatMap { Int($0) } ?? 0
    fault = text("fault")
    reason = text("reason")
    token = text("token") ?? ""
    id = text("headers", "apns-id") ?? ""
    pushType = text("headers", "apns-push-type") ?? ""
    expiration = text("headers", "apns-expiration").flatMap { Int64($0) } ?? 0
    cardEvent = text("payload", "aps", "event")
    timestamp = text("payload", "aps", "timestamp").flatMap { Int64($0) }
    ride = text("payload", "ride_id") ?? ""
    driver = text("payload", "driver")
    customer = text("payload", "customer")
    body = text("payload", "aps", "alert", "body")
    collapseID = text("headers", "apns-collapse-id") ?? ""
    let topic = text("headers", "apns-topic") ?? ""
    bundleID = topic.components(separatedBy: ".push-type.")[0]
    let host = text("headers", ":authority")?.split(separator: ":").first.map(String.init)
    node = Node.hosts.first { $0.value == host }?.key ?? ""
  }

  /// Reads all pushes of a file, in the order of their arrival.
  static func read(_ path: String) throws -> [Arrival] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    var arrivals = data.split(separator: UInt8(ascii: "\n")).compactMap { Arrival($0) }
      // The test pushes of `ridepulse doctor`.
      .filter { !$0.token.allSatisfy { $0 == "0" } }
    // The record also contains requests that were read together with the one that triggered a
    // GOAWAY.
    var lastStreams: [Int: Int] = [:]
    for index in arrivals.indices {
      let arrival = arrivals[index]
      if let last = lastStreams[arrival.connection], arrival.stream > last {
        arrivals[index].isDisowned = true
      } else if arrival.fault == "goaway" {
        // If the push was answered, it was the last stream; otherwise the stream before it was.
        lastStreams[arrival.connection] = arrival.stream - (arrival.status == 0 ? 2 : 0)
        arrivals[index].isDisowned = arrival.status == 0
      }
    }
    return arrivals
  }
}

/// One row of `ridepulse.ledger`.
struct LedgerRow: Sendable {
  let ride: String
  let id: String
  let eventID: Int64?
  let event: String
  let rule: String
  let pushType: String
  let status: String
  let reason: String?
  let attempts: Int
  let cardEvent: String?
  /// When the event was committed, in seconds since 1970.
  let occurredAt: Double
  let finishedAt: Double
  let app: String
  /// The ID of the phone's row; nil if no phone was found.
  let phone: Int64?

  /// The row as one readable line.
  var line: String {
    let card = cardEvent.map { " \($0)" } ?? ""
    let about = eventID.map { " (event \($0))" } ?? ""
    return "\(ride) \(rule)\(card) on \(event)\(about): \(status)"
      + (reason.map { ", \($0)" } ?? "") + ", \(attempts) attempts, apns-id \(id)"
  }
}
