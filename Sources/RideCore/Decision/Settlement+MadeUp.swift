extension Settlement {
  /// Returns a settlement of a ride that does not exist, with rows for each table that settlements
  /// write.
  ///
  /// It tests whether any settlement can be written.
  package static func madeUp(ride: RideID, now: Timestamp, isOver: Bool) -> Settlement {
    let word = "settlement-check"
    let event = RideEvent(id: 0, name: word, at: now)
    let entries = [LedgerEntry.Status.accepted, .suppressed].map { status in
      var entry = LedgerEntry(
        id: PushID(of: word, ride.text, status.rawValue), event: event, rule: word, app: .customer,
        pushType: .alert, status: status, attempts: 1)
      entry.reason = LedgerReason(.settlementCheck, word)
      entry.collapseID = word
      entry.phone = 0
      entry.tokenSuffix = "000000"
      entry.priority = .immediate
      entry.expiration = now.epochSeconds
      return entry
    }
    var tally = SlotTally()
    tally.due = 1
    tally.fired = 1
    var settlement = Settlement(
      rideID: ride, consumed: [0], entries: entries,
      gone: [TokenInvalidation(kind: .activity, id: 0, since: now, reason: word)], memo: Memo(),
      tallies: [word: tally], nextDue: isOver ? nil : now, isOver: isOver)
    settlement.findings = [PhoneObservation(phone: 0, .good)]
    return settlement
  }
}
