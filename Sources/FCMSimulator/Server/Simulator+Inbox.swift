import Inbox
import SimulatorKit

// What the inbox shows of messages and phones.
extension Simulator {
  /// Adds a message, with what was decided about it and by it.
  func show(_ record: SendRecord, in inbox: MessageInbox) {
    var line: [UInt8] = []
    record.write(to: &line)
    let isAccepted = record.name != nil
    let isRefused = record.word != nil || record.status != 200
    inbox.add(
      InboxMessage(
        to: InboxMessage.Address(record.registration ?? ""), type: record.kind,
        app: record.project, at: record.receivedAt, line: line,
        isAccepted ? .waiting : isRefused ? .refused : .lost("validated")))
    showDecided(in: inbox, record.registration ?? "")
  }

  /// Shows what a phone is, and what it received by that.
  func show(_ state: Phone.State, of registration: String) {
    guard let inbox else { return }
    showDecided(in: inbox, registration)
    let shown = state == .awake ? nil : InboxPhoneState(state.rawValue, isOn: state == .doze)
    inbox.setState(shown, of: InboxMessage.Address(registration))
  }

  private func showDecided(in inbox: MessageInbox, _ registration: String) {
    for delivery in decided {
      inbox.decide(delivery.message.number, delivery.outcome.fate, at: delivery.at)
    }
    if decided.contains(where: { $0.outcome == .wiped }) {
      inbox.countDeletion(for: InboxMessage.Address(registration))
    }
    decided.removeAll()
  }
}

extension Delivery.Outcome {
  fileprivate var fate: MessageFate { self == .delivered ? .delivered : .lost(rawValue) }
}

extension SendRecord {
  /// What the message is, in RidePulse's words or in FCM's.
  fileprivate var kind: String {
    let message = message?.object
    if let kind = message?["data"]?.object?["rp_kind"]?.string { return kind }
    let android = message?["android"]?.object?["notification"]
    return message?["notification"] ?? android == nil ? "data" : "notification"
  }
}
