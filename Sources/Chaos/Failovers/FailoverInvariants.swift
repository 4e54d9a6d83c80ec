import LocalStack

extension Invariant {
  /// `doctor` warns beforehand if a failover may lose commits, and otherwise does not.
  static func ofWarnings(_ doctor: DoctorReport, _ replication: Replication) -> Invariant {
    var invariant = Invariant("ridepulse doctor names beforehand what a failover may lose")
    let warnings = doctor.standbyWarnings
    invariant.count(
      "warnings about standbys", warnings.count, expected: replication == .asynchronous ? 1 : 0)
    invariant.list("of these", warnings)
    return invariant
  }

  /// A failover loses what Postgres lost, and nothing else.
  static func ofCommits(
    _ comparison: CommitComparison, _ replication: Replication
  ) -> Invariant {
    var invariant = Invariant("A failover loses what Postgres lost, and nothing else")
    invariant.count("transactions acknowledged to producers", comparison.acknowledged)
    invariant.count("of these, at first without an answer", comparison.doubtful)
    invariant.count("committed, and never acknowledged", comparison.unacknowledged)
    let lost = comparison.lost.map { "\($0.id) of ride \($0.ride)" }.sorted()
    if replication == .asynchronous {
      invariant.list("lost, and in no log that was replicated", lost)
    } else {
      invariant.none("lost, though the standby was synchronous", lost)
    }
    invariant.none(
      "replicated, and absent", comparison.vanished.map { "\($0.id) of ride \($0.ride)" }.sorted())
    invariant.none(
      "not replicated, and present",
      comparison.resurrected.map { "\($0.id) of ride \($0.ride)" }.sorted())
    return invariant
  }

  /// No push of one event is sent under two `apns-id`s, nor two pushes under one.
  ///
  /// Chat messages are counted: the text of each is unique in its ride.
  static func ofContents(
    _ evidence: Evidence, repeated: Set<ShownText>, _ replication: Replication
  ) -> Invariant {
    var invariant = Invariant("One push has one apns-id")
    let shown = evidence.arrivals.filter { $0.isAccepted && $0.body?.hasPrefix("message ") == true }
    let byText = Dictionary(grouping: shown) { ShownText.Push($0) }
    invariant.count("chat messages accepted, each counted once", byText.count)
    let twice = byText.filter { Set($0.value.map(\.id)).count > 1 }
    let lines = { (pushes: [Arrival]) in
      pushes.map { evidence.line($0) }.joined(separator: "; ")
    }
    let ofProducer = twice.filter { repeated.contains($0.key.text) }
    invariant.list(
      "under two: its producer had no answer, and repeated it",
      ofProducer.values.map(lines).sorted())
    invariant.none(
      "under two", twice.filter { ofProducer[$0.key] == nil }.values.map(lines).sorted())
    let reused = Dictionary(grouping: shown) { $0.id }.values
      .filter { Set($0.map { ShownText.Push($0) }).count > 1 }.map(lines).sorted()
    if replication == .asynchronous {
      // The number of an event that was lost is given to a later one.
      invariant.list("apns-ids of a lost event and of a later one", reused)
    } else {
      invariant.none("apns-ids of two messages", reused)
    }
    return invariant
  }

  /// A push without a row in the ledger was sent just before a failover.
  static func ofUnrecordedPushes(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("Pushes whose verdict is lost were sent just before a failover")
    let rows = Set(evidence.ledger.map(\.id))
    let unrecorded = evidence.arrivals.filter { $0.isAccepted && !rows.contains($0.id) }
    let failovers = evidence.incidents.incidents.filter { $0.kind == .failover }
    let isNear = { (arrival: Arrival) in
      failovers.contains { ($0.from - 2...$0.to).contains(arrival.at) }
    }
    invariant.count("pushes accepted, and without a row", Set(unrecorded.map(\.id)).count)
    invariant.none(
      "of these, not before a failover",
      unrecorded.filter { !isNear($0) }.map { evidence.line($0) })
    let starts = Dictionary(
      grouping: evidence.arrivals.filter { $0.cardEvent == "start" && $0.isAccepted }
    ) { $0.ride }
    invariant.list(
      "cards started twice: the record of the first was lost",
      starts.filter { $0.value.count > 1 }
        .map { $0.value.map { evidence.line($0) }.joined(separator: "; ") }.sorted())
    return invariant
  }
}

/// The data of an event as its pushes show it.
struct ShownText: Hashable {
  let ride: String
  let data: String

  /// A push of it to one phone.
  struct Push: Hashable {
    let text: ShownText
    let token: String

    init(_ arrival: Arrival) {
      text = ShownText(ride: arrival.ride, data: #"{"text": "\#(arrival.body ?? "")"}"#)
      token = arrival.token
    }
  }
}
