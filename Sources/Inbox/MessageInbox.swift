package import SimulatorKit

/// The newest messages that a simulator received, their fates, and the phones that they were for.
///
/// A message costs a push little: it is appended with its record's bytes. All else is computed when
/// the page or `/messages` is read.
package final class MessageInbox {
  /// What is kept at most; what is beyond it leaves, the oldest first.
  struct Limits {
    var messages = 10_000
    var bytes = 64 << 20
    var phones = 1_000
  }

  private let limits: Limits
  /// The message of a sequence number is at its remainder.
  private var ring: [InboxMessage] = []
  private var bytes = 0
  /// The sequence number of the oldest message that is left.
  private(set) var oldest = 1
  private(set) var lastSequence = 0
  private(set) var phones: [String: InboxPhone] = [:]
  /// How many phones had to leave.
  private(set) var phonesLeft = 0
  /// How many messages were refused since the start.
  private(set) var refusals = 0
  /// Rises with each message, fate and state of a phone.
  private(set) var revision = 0

  package convenience init() { self.init(Limits()) }

  init(_ limits: Limits) {
    self.limits = limits
  }

  /// The number of the next message.
  package var nextSequence: Int { lastSequence + 1 }

  package func add(_ message: InboxMessage) {
    var message = message
    revision += 1
    lastSequence += 1
    message.sequence = lastSequence
    message.revision = revision
    if message.fate == .refused { refusals += 1 }
    bytes += message.line.count
    if ring.count < limits.messages {
      ring.append(message)
    } else {
      let slot = slot(of: lastSequence)
      if oldest <= lastSequence - limits.messages { leave() }
      ring[slot] = message
    }
    while bytes > limits.bytes, oldest < lastSequence { leave() }
    // What APNs or FCM refuses may be no phone's.
    if message.fate == .refused, phones[message.address.owner] == nil { return }
    change(message.address) { $0.count(message.address.text, message.fate) }
  }

  /// Changes the fate of a message, if it is still there.
  package func decide(_ sequence: Int, _ fate: MessageFate, at time: WallTime) {
    guard sequence >= oldest, sequence <= lastSequence else { return }
    revision += 1
    let slot = slot(of: sequence)
    ring[slot].fate = fate
    ring[slot].decidedAt = time
    ring[slot].revision = revision
    change(ring[slot].address) { _ in }
  }

  /// A test has changed whether a phone can be reached; nil if it can.
  package func setState(_ state: InboxPhoneState?, of address: InboxMessage.Address) {
    revision += 1
    change(address) { $0.setState(state, of: address.text) }
  }

  /// The service has thrown away what it stored for a phone.
  package func countDeletion(for address: InboxMessage.Address) {
    revision += 1
    change(address) { $0.deletions += 1 }
  }

  private func slot(of sequence: Int) -> Int { (sequence - 1) % limits.messages }

  private func leave() {
    let slot = slot(of: oldest)
    bytes -= ring[slot].line.count
    // Only its place remains.
    ring[slot] = InboxMessage(
      to: InboxMessage.Address(""), type: "", app: "", at: ring[slot].receivedAt, line: [], .refused
    )
    oldest += 1
  }

  private func change(_ address: InboxMessage.Address, _ body: (inout InboxPhone) -> Void) {
    let id = address.owner
    if id.isEmpty { return }
    body(&phones[id, default: InboxPhone(id: id)])
    phones[id]?.revision = revision
    if phones.count > limits.phones + limits.phones / 4 { removePhones() }
  }

  /// Removes those that changed longest ago, several at once because it takes a search.
  ///
  /// A phone that is off stays: the simulator keeps it off, and the next message would show it on. So
  /// that many of them leave room for others, only half of the phones are spared.
  private func removePhones() {
    let spared = phones.values.filter { $0.state != nil }.sorted { $0.revision > $1.revision }
      .prefix(limits.phones / 2)
    let ids = Set(spared.map(\.id))
    let leaving = phones.values.filter { !ids.contains($0.id) }
      .sorted { $0.revision < $1.revision }
      .prefix(phones.count - limits.phones)
    for phone in leaving { phones[phone.id] = nil }
    phonesLeft += leaving.count
  }
}

extension MessageInbox {
  /// The messages that are left from a sequence number on, the oldest first.
  func messages(from sequence: Int = 1) -> some Sequence<InboxMessage> {
    let first = max(sequence, oldest)
    return (first..<max(first, lastSequence + 1)).lazy.map { self.ring[self.slot(of: $0)] }
  }
}
