import Foundation
import RideCore

/// One push as it arrived at the simulator.
struct Arrival: Sendable {
  /// Seconds since 1970.
  let at: Double
  let connection: Int
  let stream: Int
  /// 0 where it never got an answer.
  let status: Int
  /// What the simulator did to it, where it did anything.
  let fault: String?
  let reason: String?
  let token: String
  let id: String
  let pushType: String
  /// `apns-expiration`.
  let expiration: Int64
  /// `aps.event` and `aps.timestamp` of a push to a card.
  let cardEvent: String?
  let timestamp: Int64?
  let ride: String
  /// The driver whom the payload of a driver's push names.
  let driver: String?
  /// The node that sent it.
  let node: String
  /// `apns-collapse-id`.
  let collapseID: String
  /// `apns-topic` without what a push type appends to it: one for each app.
  let bundleID: String

  /// A GOAWAY said that it was not processed, whatever its answer would have been.
  var isDisowned = false

  var isAccepted: Bool { status == 200 && !isDisowned }

  /// By how many seconds it came after its expiration.
  var lateness: Double { at - Double(expiration) }

  /// Reads one line of `requests.jsonl`.
  init?(_ line: some Sequence<UInt8>) {
    guard let record = JSONValue(json: line) else { return nil }
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
    collapseID = text("headers", "apns-collapse-id") ?? ""
    let topic = text("headers", "apns-topic") ?? ""
    bundleID = topic.components(separatedBy: ".push-type.")[0]
    let host = text("headers", ":authority")?.split(separator: ":").first.map(String.init)
    node = Node.hosts.first { $0.value == host }?.key ?? ""
  }

  /// All pushes of a file, in the order of their arrival.
  static func read(_ path: String) throws -> [Arrival] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    var arrivals = data.split(separator: UInt8(ascii: "\n")).compactMap { Arrival($0) }
    // What was read together with the push that a GOAWAY struck is in the record as well.
    var lastStreams: [Int: Int] = [:]
    for index in arrivals.indices {
      let arrival = arrivals[index]
      if let last = lastStreams[arrival.connection], arrival.stream > last {
        arrivals[index].isDisowned = true
      } else if arrival.fault == "goaway" {
        // Answered: it was the last stream. Not answered: the one before it was.
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
  let finishedAt: Double
  let app: String
  /// The ID of the phone's row; nil if no phone was found.
  let phone: Int64?

  /// As one line for a person.
  var line: String {
    let card = cardEvent.map { " \($0)" } ?? ""
    let about = eventID.map { " (event \($0))" } ?? ""
    return "\(ride) \(rule)\(card) on \(event)\(about): \(status)"
      + (reason.map { ", \($0)" } ?? "") + ", \(attempts) attempts, apns-id \(id)"
  }
}
