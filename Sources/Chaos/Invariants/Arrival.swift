import Base
import Foundation
import RideCore

/// One push as received by a simulator.
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
  /// The value of `apns-topic` without the suffix of a push type; it identifies the app. At FCM it
  /// is `android`.
  let bundleID: String
  /// The card of an Android phone, which needs no token of its own: `rp_card`.
  let card: String?

  /// Whether a GOAWAY declared the push as not processed, regardless of its answer.
  var isDisowned = false

  var isAccepted: Bool { status == 200 && !isDisowned }

  /// The seconds between the expiration and the arrival.
  var lateness: Double { at - Double(expiration) }
}

/// A line of a simulator's `requests.jsonl`.
struct RequestRecord {
  private let record: JSONValue

  init?(_ line: some Sequence<UInt8>) {
    guard let record = JSONValue(json: Array(line)) else { return nil }
    self.record = record
  }

  func text(_ path: String...) -> String? {
    switch record.value(at: path) {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): String(number)
    default: nil
    }
  }

  func number(_ path: String) -> Int { text(path).flatMap { Int($0) } ?? 0 }

  /// The node that sent the request, by the name that it has for the simulator.
  func node(_ authority: String?) -> String {
    let host = authority?.split(separator: ":").first.map(String.init)
    return Node.hosts.first { $0.value == host }?.key ?? ""
  }
}

extension Arrival {
  /// Creates a push from a line of apns-simulator.
  init(apns record: RequestRecord) {
    let topic = record.text("headers", "apns-topic") ?? ""
    self.init(
      at: record.text("received_at").flatMap(Double.init) ?? 0,
      connection: record.number("connection"), stream: record.number("stream"),
      status: record.number("status"), fault: record.text("fault"),
      reason: record.text("reason"), token: record.text("token") ?? "",
      id: record.text("headers", "apns-id") ?? "",
      pushType: record.text("headers", "apns-push-type") ?? "",
      expiration: record.text("headers", "apns-expiration").flatMap { Int64($0) } ?? 0,
      cardEvent: record.text("payload", "aps", "event"),
      timestamp: record.text("payload", "aps", "timestamp").flatMap { Int64($0) },
      ride: record.text("payload", "ride_id") ?? "", driver: record.text("payload", "driver"),
      customer: record.text("payload", "customer"),
      body: record.text("payload", "aps", "alert", "body"),
      node: record.node(record.text("headers", ":authority")),
      collapseID: record.text("headers", "apns-collapse-id") ?? "",
      bundleID: topic.components(separatedBy: ".push-type.")[0], card: nil)
  }

  /// Creates a push from a line of fcm-simulator.
  init(fcm record: RequestRecord) {
    func data(_ name: String) -> String? { record.text("message", "data", name) }
    let kind = data("rp_kind") ?? ""
    let isStored = record.text("message", "android", "ttl") != "0s"
    self.init(
      at: record.text("received_at").flatMap(Double.init) ?? 0,
      // The two simulators count theirs apart.
      connection: 1_000_000 + record.number("connection"), stream: record.number("stream"),
      status: record.number("status"), fault: record.text("fault"), reason: record.text("code"),
      token: record.text("registration") ?? "", id: data("rp_id") ?? "",
      pushType: kind == "card" ? "liveactivity" : kind,
      expiration: isStored ? data("rp_until").flatMap { Int64($0) } ?? 0 : 0,
      cardEvent: data("rp_event"), timestamp: data("rp_ts").flatMap { Int64($0) },
      ride: data("rp_ride") ?? "", driver: data("driver"), customer: data("customer"),
      body: record.text("message", "android", "notification", "body"),
      node: record.node(record.text("authority")),
      collapseID: record.text("message", "android", "notification", "tag") ?? "",
      bundleID: "android", card: data("rp_card"))
  }

  /// Reads all pushes of apns-simulator, in the order of their arrival.
  static func read(_ path: String) throws -> [Arrival] {
    // Without the test pushes of `ridepulse doctor`.
    disowning(
      try records(path).map(Arrival.init(apns:)).filter { !$0.token.allSatisfy { $0 == "0" } })
  }

  /// Reads all messages of fcm-simulator, in the order of their arrival.
  static func readFCM(_ path: String) throws -> [Arrival] {
    disowning(try records(path).map(Arrival.init(fcm:)).filter { !$0.id.isEmpty })
  }

  private static func records(_ path: String) throws -> [RequestRecord] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    return data.split(separator: UInt8(ascii: "\n")).compactMap { RequestRecord($0) }
  }

  /// Marks the requests that were read together with the one that triggered a GOAWAY.
  private static func disowning(_ pushes: [Arrival]) -> [Arrival] {
    var arrivals = pushes
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
