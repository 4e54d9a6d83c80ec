package import Base

// A reason has times in UTC, as the ledger has it; a reader of one ride has the clock of that ride.
extension LedgerReason {
  /// Returns the text with its times as a clock writes them.
  package func text(by clock: (Timestamp) -> String) -> String {
    times.reduce(text) { $0.replacing(CivilTime.iso($1), with: clock($1)) }
  }

  /// Returns whether the text states a time.
  package func states(_ time: Timestamp) -> Bool { times.contains(time) }
}

extension LedgerReason {
  static func startsLater(_ opening: Timestamp) -> LedgerReason {
    LedgerReason(
      .cardPending, "the card starts at \(CivilTime.iso(opening))", times: opening)
  }

  static func waiting(until due: Timestamp) -> LedgerReason {
    LedgerReason(.waiting, "waits until \(CivilTime.iso(due))", times: due)
  }

  static func setTooLate(_ slot: Timestamp) -> LedgerReason {
    LedgerReason(
      .setTooLate, "its time, \(CivilTime.iso(slot)), had passed when it was set", times: slot)
  }

  static func validUntil(_ instant: Timestamp) -> LedgerReason {
    LedgerReason(.outOfTime, "valid until \(CivilTime.iso(instant))", times: instant)
  }
}

// Stored, a reason is its code and its text: two of these are one.
extension LedgerReason: Hashable {
  package static func == (one: LedgerReason, other: LedgerReason) -> Bool {
    one.code == other.code && one.text == other.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(text)
  }
}
