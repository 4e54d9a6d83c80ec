extension Invariant {
  /// 4. Cards receive their pushes in order.
  static func ofCards(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("4. Cards hear things in order")
    let pushes = evidence.arrivals.filter { $0.pushType == "liveactivity" }
    let updates = pushes.filter { $0.cardEvent != "start" }
    invariant.none(
      "pushes to unknown cards",
      updates.filter { evidence.cards[$0.token] == nil }.map { evidence.line($0) })
    let byCard = Dictionary(grouping: updates) { evidence.cards[$0.token] ?? "" }
    invariant.count("cards", Set(evidence.cards.values).count)
    invariant.count("pushes to cards", updates.count)
    invariant.none(
      "timestamps that do not rise", byCard.values.flatMap { disorder(in: $0, evidence) }.sorted())
    invariant.none(
      "pushes after an end", byCard.values.flatMap { afterEnd(in: $0, evidence) }.sorted())
    // APNs reported their tokens as gone, so that no end can reach them.
    let gone = Set(pushes.filter { $0.status == 410 }.compactMap { evidence.cards[$0.token] })
    let open = Set(evidence.cards.values).subtracting(gone).filter { card in
      byCard[card]?.last { $0.isAccepted }?.cardEvent != "end"
    }
    invariant.none("cards whose last word is no end", open.sorted())
    let starts = Dictionary(grouping: pushes.filter { $0.cardEvent == "start" && $0.isAccepted }) {
      $0.ride
    }
    invariant.count("rides with an accepted start", starts.count)
    invariant.none(
      "rides with more than one",
      starts.filter { $0.value.count > 1 }
        .map { $0.value.map { evidence.line($0) }.joined(separator: "; ") }.sorted())
    return invariant
  }

  /// Returns pairs of pushes whose timestamps do not rise.
  ///
  /// A push that was not accepted may be repeated unchanged: the client resends what APNs provably
  /// did not process.
  private static func disorder(in pushes: [Arrival], _ evidence: Evidence) -> [String] {
    zip(pushes, pushes.dropFirst()).compactMap { one, next in
      guard let before = one.timestamp, let after = next.timestamp else {
        return "no timestamp: \(evidence.line(next))"
      }
      let isSame = after == before && one.id == next.id && !one.isAccepted
      if after > before || isSame { return nil }
      return "\(evidence.line(one)); then \(evidence.line(next))"
        + evidence.wakings(before: next.at)
    }
  }

  private static func afterEnd(in pushes: [Arrival], _ evidence: Evidence) -> [String] {
    guard let end = pushes.firstIndex(where: { $0.cardEvent == "end" }) else { return [] }
    return pushes[end...].filter { $0.cardEvent != "end" }.map { push in
      "\(evidence.line(pushes[end])); then \(evidence.line(push))"
        + evidence.wakings(before: push.at)
    }
  }
}
