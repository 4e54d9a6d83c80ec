import Base
import RideCore
import Timeline

/// The background pushes that each phone receives in an hour of a preview, from all of its rides.
struct BackgroundPushes {
  /// The most that APNs delivers in an hour.
  static let limit = 3
  /// How many phones a warning names.
  private static let named = 3

  private struct Phone {
    var hour: Int64
    var count = 0
    var most = 0
  }

  private let start: Timestamp
  /// By token.
  private var phones: [String: Phone] = [:]

  /// - Parameter start: From when the hours are counted.
  init(from start: Timestamp) {
    self.start = start
  }

  /// Adds a push; pushes come in the order of time.
  mutating func add(_ push: PlannedPush, at instant: Timestamp) {
    // FCM has no such limit.
    guard push.entry.kind == .push, push.headers.pushType == .background, push.platform == .ios
    else { return }
    let hour = max(0, instant.epochSeconds - start.epochSeconds) / 3600
    var phone = phones[push.address.text] ?? Phone(hour: hour)
    phone.count = phone.hour == hour ? phone.count + 1 : 1
    phone.hour = hour
    phone.most = max(phone.most, phone.count)
    phones[push.address.text] = phone
  }

  /// A warning for each of the phones that receive the most, and one for the others.
  var warnings: [String] {
    let over = phones.filter { $0.value.most > Self.limit }
      .sorted { ($1.value.most, $0.key) < ($0.value.most, $1.key) }
    var lines = over.prefix(Self.named).map { token, phone in
      "phone …\(token.suffix(6)): \(phone.most) background pushes an hour, APNs delivers two or three"
    }
    if over.count > Self.named {
      let rest = counted(over.count - Self.named, "more phone")
      lines.append("\(rest) with more than \(Self.limit) background pushes an hour")
    }
    return lines
  }
}
