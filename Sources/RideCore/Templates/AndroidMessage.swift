import Base

/// A message to Android phones before it has its phone: what FCM gets, as fields.
///
/// Alerts, background pushes and cards are written by it alone. All but the push's ID, its tag and
/// the phone's address is the same for the phones that share a text, and is encoded once:
///
/// ```swift
/// var message = AndroidMessage(.card, isHighPriority: true, ttl: validUntil - now)
/// message.setCommon(ts: timestamp, ride: ride.id, until: validUntil)
/// message.set("rp_event", text: "update")
/// message.set("rp_state", json: contentState)
/// let body = message.encoded.body(id: entry.id, to: registration)
/// if let reason = AndroidSize.problem(of: body) { … }
/// ```
struct AndroidMessage: Sendable {
  /// What the app receives, as `rp_kind` names it.
  enum Kind: String, Sendable {
    case alert, background, card
  }

  /// A field's value.
  enum Value: Sendable {
    /// The JSON text, which is the same for all phones.
    case json([UInt8])
    /// The push's ID.
    case id
    /// The push's tag, which is its ID if the rule has no `collapse`.
    case tag
  }

  typealias Field = (key: String, value: Value)

  let isHighPriority: Bool
  /// How long FCM may store it, in whole seconds.
  let ttl: Int64
  private var data: [Field]
  private var notification: [Field] = []

  /// The longest time that FCM stores a message: four weeks.
  static let longestTTL: Int64 = 2_419_200

  /// - Parameter ttl: how long it stays valid; a part of a second is dropped, and zero is never
  ///   stored.
  init(_ kind: Kind, isHighPriority: Bool, ttl: Duration) {
    self.isHighPriority = isHighPriority
    self.ttl = min(max(0, ttl.components.seconds), Self.longestTTL)
    data = [("rp_id", .id), ("rp_kind", .json(JSONValue.string(kind.rawValue).json))]
  }

  /// Sets the keys that messages of all kinds have.
  ///
  /// - Parameters:
  ///   - ts: seconds since 1970: of two messages, the app shows the later one.
  ///   - ride: nil for an event about no ride.
  ///   - until: until when it is valid; the phone may receive it later. Nil for the end of a card.
  mutating func setCommon(ts: Int64, ride: RideID?, until: Timestamp?) {
    set("rp_ts", text: String(ts))
    if let ride { set("rp_ride", text: ride.text) }
    if let until { set("rp_until", text: String(until.epochSeconds)) }
  }

  /// Sets a key of `data`.
  mutating func set(_ key: String, text: String) {
    data.append((key, .json(JSONValue.string(text).json)))
  }

  /// Sets a key of `data` to a JSON value as a text, which is all that FCM takes: a text as it is,
  /// a number, list or object as its JSON. Null sets none.
  mutating func set(_ key: String, json: [UInt8]) {
    guard let first = json.first, json != Self.null else { return }
    if first == UInt8(ascii: "\"") {
      data.append((key, .json(json)))
    } else {
      set(key, text: String(decoding: json, as: UTF8.self))
    }
  }

  /// Sets `rp_tag` in `data`.
  mutating func setTag() { data.append(("rp_tag", .tag)) }

  /// Sets a key of `android.notification`, which makes the system draw the message.
  mutating func notify(_ key: String, _ value: Value) { notification.append((key, value)) }

  /// The bytes, but for what is a single phone's.
  var encoded: AndroidBody {
    var body = AndroidBody()
    body.reserveCapacity()
    body.add("{\"message\":{\"android\":{")
    if !notification.isEmpty {
      body.add("\"notification\":")
      body.add(notification)
      body.add(",")
    }
    body.add(
      "\"priority\":\"\(isHighPriority ? "HIGH" : "NORMAL")\",\"ttl\":\"\(ttl)s\"},\"data\":")
    body.add(data)
    return body
  }

  private static let null = Array("null".utf8)
}

/// The bytes of a message to Android phones, with gaps for what is a single phone's.
struct AndroidBody: Sendable {
  /// Constant bytes, each with the gap that follows them; the last ones have none.
  private var parts: [(bytes: [UInt8], gap: Gap?)] = [([], nil)]

  private enum Gap { case id, tag }

  /// Returns the JSON body of one push.
  ///
  /// - Parameter tag: the tag; nil for the push's own ID.
  func body(id: PushID, tag: String? = nil, to phone: FCMRegistration) -> [UInt8] {
    let id = id.description
    var json: [UInt8] = []
    json.reserveCapacity(parts.reduce(320) { $0 + $1.bytes.count })
    for part in parts {
      json += part.bytes
      switch part.gap {
      case .id: json.append(json: id)
      case .tag: json.append(json: tag ?? id)
      case nil: break
      }
    }
    json += (phone.isFID ? ",\"fid\":" : ",\"token\":").utf8
    json.append(json: phone.text)
    json += "}}".utf8
    return json
  }

  /// Makes room for the bytes up to the next gap.
  fileprivate mutating func reserveCapacity() {
    parts[parts.count - 1].bytes.reserveCapacity(512)
  }

  fileprivate mutating func add(_ text: String) { parts[parts.count - 1].bytes += text.utf8 }

  /// Adds an object, with sorted keys.
  fileprivate mutating func add(_ fields: [AndroidMessage.Field]) {
    var mark = "{"
    for field in fields.sorted(by: { $0.key < $1.key }) {
      add(mark)
      mark = ","
      parts[parts.count - 1].bytes.append(json: field.key)
      add(":")
      switch field.value {
      case .json(let json): parts[parts.count - 1].bytes += json
      case .id: close(.id)
      case .tag: close(.tag)
      }
    }
    add("}")
  }

  private mutating func close(_ gap: Gap) {
    parts[parts.count - 1].gap = gap
    parts.append(([], nil))
    reserveCapacity()
  }
}
