/// Why a phone does not receive everything at once.
package struct InboxPhoneState: Hashable, Sendable {
  /// In the simulator's words.
  package let word: String
  /// Whether its screen is on although something waits for it.
  package let isOn: Bool

  package init(_ word: String, isOn: Bool = false) {
    self.word = word
    self.isOn = isOn
  }
}

/// A phone that messages were sent to, as far as a simulator can know it.
///
/// A token of APNs is one app's on one phone, and each card has a token of its own: without a name that
/// joins tokens, each of them is a phone.
struct InboxPhone {
  let id: String
  /// In the order in which they were first used.
  private(set) var addresses: [String] = []
  /// The states of its addresses that do not receive everything at once.
  private var states: [String: InboxPhoneState] = [:]
  private(set) var messages = 0
  private(set) var refusals = 0
  /// How often the service threw away what it stored.
  var deletions = 0
  /// The revision of the inbox that changed it last.
  var revision = 0

  private static let mostAddresses = 100

  init(id: String) {
    self.id = id
  }

  /// Nil if it receives everything at once.
  var state: InboxPhoneState? { states.min { $0.key < $1.key }?.value }

  /// What it is called; nil if nothing but its address is known.
  var name: String? { addresses.contains(id) ? nil : id }

  mutating func count(_ address: String, _ fate: MessageFate) {
    messages += 1
    if fate == .refused { refusals += 1 }
    add(address)
  }

  mutating func setState(_ state: InboxPhoneState?, of address: String) {
    add(address)
    states[address] = state
  }

  private mutating func add(_ address: String) {
    if addresses.count < Self.mostAddresses, !addresses.contains(address) {
      addresses.append(address)
    }
  }
}
