/// Chooses the push-to-start tokens with which cards are started on one person's phones: one for
/// each phone that has no card.
struct StartPlan {
  /// The tokens to use, the newest first.
  let tokens: [StartToken]
  /// Whether the person has no token for any phone, used or not.
  let lacksToken: Bool

  /// - Parameters:
  ///   - cards: the person's cards, including those that are gone, which no other replaces.
  ///   - starts: what was started before, by `StartToken.id`.
  init(phones: [Phone], cards: [Card], tokens: [StartToken], starts: [Int64: StartMemo]) {
    if cards.contains(where: { $0.installationID == nil }) {
      // It may be on any of the phones.
      (self.tokens, lacksToken) = ([], false)
      return
    }
    let newestFirst = tokens.sorted { ($1.registeredAt, $1.id) < ($0.registeredAt, $0.id) }
    let withCard = Set(cards.compactMap(\.installationID))
    var taken = withCard.union(starts.values.compactMap(\.installationID))
    let known = Set(tokens.compactMap(\.installationID)).union(taken)
    // Tokens without an installation name no phone. Apps register at each launch, so as many of the
    // newest as there are other phones belong to different phones, and none of them is outdated.
    // A phone whose row names no installation may be one of those that cards and tokens name.
    let unmatched = phones.count { $0.installationID.map { !known.contains($0) } ?? true }
    let others = min(unmatched, max(0, phones.count - known.count))
    let limit = known.isEmpty ? max(1, others) : others
    let unnamed = newestFirst.filter { $0.installationID == nil }.prefix(limit)
    let started = starts.values.count { $0.installationID == nil }
    let usable = Set(
      unnamed.filter { starts[$0.id] == nil }.prefix(max(0, limit - started)).map(\.id))
    self.tokens = newestFirst.filter { token in
      guard let installation = token.installationID else { return usable.contains(token.id) }
      return taken.insert(installation).inserted && starts[token.id] == nil
    }
    lacksToken = self.tokens.isEmpty && starts.isEmpty && cards.isEmpty
  }
}
