import SimulatorKit

/// What each phone's cards were sent last; the rules are RidePulse's own (docs/fcm-simulator.md).
struct CardHistory {
  private struct Last: Equatable {
    let id: String
    let timestamp: Int
    let isEnd: Bool
  }

  private struct Key: Hashable {
    let registration: String
    let card: String
  }

  private var last: [Key: Last] = [:]

  /// Returns what is wrong with a message of a card, or nil.
  func problem(of data: [String: String], to registration: String) -> String? {
    guard data["rp_kind"] == "card" else { return nil }
    guard let card = data["rp_card"], let id = data["rp_id"], let event = data["rp_event"],
      let timestamp = data["rp_ts"].flatMap({ Int($0) })
    else { return "a card needs rp_card, rp_id, rp_event and rp_ts" }
    guard ["start", "update", "end"].contains(event) else { return "rp_event is \(event)" }
    let state = data["rp_state"].map { try? JSONParser.parse(Array($0.utf8)) }
    // An end may be for a phone whose owner has left the ride.
    guard state == nil ? event == "end" : state??.object != nil else {
      return "rp_state is not a JSON object: each message carries the whole state"
    }
    // Otherwise a card whose end is lost would stay for ever.
    let promised =
      event == "end" ? [] : event == "start" ? ["rp_until"] : ["rp_until", "rp_gone_at"]
    if let missing = promised.first(where: { data[$0].flatMap { Int($0) } == nil }) {
      return "a card's \(event) needs \(missing) in seconds"
    }
    let next = Last(id: id, timestamp: timestamp, isEnd: event == "end")
    if let old = last[Key(registration: registration, card: card)], old != next {
      if timestamp <= old.timestamp { return "rp_ts \(timestamp) follows \(old.timestamp)" }
      if old.isEnd, event == "update" { return "update follows the card's end" }
    }
    return nil
  }

  /// Records a message that FCM accepts; one that it refuses, the card never got.
  mutating func accepted(_ data: [String: String], to registration: String) {
    guard let card = data["rp_card"], let id = data["rp_id"],
      let timestamp = data["rp_ts"].flatMap({ Int($0) })
    else { return }
    last[Key(registration: registration, card: card)] = Last(
      id: id, timestamp: timestamp, isEnd: data["rp_event"] == "end")
  }
}
