import Inbox
import SimulatorKit

// Devices that a test takes offline, and what the inbox shows of all of them.
extension Simulator {
  /// Executes `POST /devices/TOKEN/offline` or `…/online`.
  func executeDeviceCall(_ request: Request, at time: WallTime) throws -> JSON {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard request.method == "POST", parts.count == 4, ["offline", "online"].contains(parts[3])
    else { throw UnknownCall() }
    guard RequestRules.isDeviceToken(parts[2]) else {
      throw FormatError(
        path: "the path", found: "token \"\(parts[2])\"",
        expected: "64 to 512 hex digits, an even number")
    }
    let token = parts[2].lowercased()
    if parts[3] == "offline" {
      devices.disconnect(token)
      inbox?.setState(InboxPhoneState("offline"), of: address(token))
      return .object(["offline": .string(token)])
    }
    let deliveries = devices.connect(token, at: time)
    let lines = deliveries.map(\.json)
    lines.forEach(recorders.deliveries.append)
    if let inbox {
      show(deliveries, in: inbox)
      inbox.setState(nil, of: address(token))
    }
    return .object(["online": .string(token), "stored": .array(lines)])
  }

  /// Adds a push or a broadcast to the inbox, with what was decided about it and by it.
  func show(
    _ record: RequestRecord, of push: Push, _ call: ChannelCall?, isProcessed: Bool,
    in inbox: MessageInbox
  ) {
    if ChannelCall.owns(push.request.path), call?.kind != .broadcast { return }
    var line: [UInt8] = []
    record.write(to: &line)
    let name = push.deviceToken?.lowercased() ?? push.channelID ?? ""
    var fate = devices.isOffline(name) ? MessageFate.waiting : .delivered
    if record.dropped != nil { fate = .dropped }
    if !isProcessed { fate = .refused }
    let bundle = call?.bundleID ?? push.bundleID
    inbox.add(
      InboxMessage(
        to: address(name), type: push.pushType?.rawValue ?? push.header("apns-push-type") ?? "",
        app: bundle.split(separator: ".").last.map(String.init) ?? "", at: record.receivedAt,
        line: line, fate))
    show(decided, in: inbox)
    decided.removeAll()
  }

  private func show(_ deliveries: [Delivery], in inbox: MessageInbox) {
    for delivery in deliveries {
      inbox.decide(delivery.push.number, delivery.outcome.fate, at: delivery.at)
    }
  }

  private func address(_ token: String) -> InboxMessage.Address {
    InboxMessage.Address(token, phone: deviceTokens[token]?.phone)
  }
}

extension Delivery.Outcome {
  fileprivate var fate: MessageFate { self == .delivered ? .delivered : .lost(word) }
}
