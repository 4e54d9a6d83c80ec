import Base
import RideCore

/// What the pushes of a world revealed about tokens.
struct TokenStates {
  var gonePhones: Set<Int64> = []
  var goneStarts: Set<Int64> = []
  var phones: [Int64: PhoneProblem] = [:]
  /// The owners whose phones reported a receipt.
  var reporters: Set<PhoneOwner> = []

  /// Records what a settlement reveals, as the database does.
  mutating func record(_ settlement: Settlement, _ tables: AppTables) {
    for token in settlement.invalidations where tables.isEnded(by: token) {
      switch token.kind {
      case .phone: gonePhones.insert(token.id)
      case .start: goneStarts.insert(token.id)
      case .activity, .channel: break
      }
    }
    for receipt in settlement.ownersReceipts { reporters.insert(receipt.owner) }
    for observation in settlement.observations {
      var problem = phones[observation.phone] ?? PhoneProblem()
      switch observation.kind {
      case .bad(let probe):
        problem.refusals += 1
        problem.probe = problem.probe ?? probe
        problem.isQuarantined = problem.refusals >= PhoneProblem.quarantineAfter
      case .probed: problem.isProbed = true
      case .unprobed(let push): if problem.probe == push { problem.probe = nil }
      case .good: problem = PhoneProblem()
      case .throttled(let until): problem.quietUntil = until.microseconds
      }
      phones[observation.phone] = problem == PhoneProblem() ? nil : problem
    }
  }

  /// Forgets what was known about a phone that registers again.
  mutating func registered(phone: Int64) {
    gonePhones.remove(phone)
    phones[phone] = nil
  }
}
