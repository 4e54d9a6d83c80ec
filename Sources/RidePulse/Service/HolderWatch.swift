import PostgresStore

/// Measures how long dead rows have been held back, also where the time is not known: of another
/// role's session without the rights of pg_read_all_stats, and of a slot.
struct HolderWatch {
  private var first: (xid: String?, at: ContinuousClock.Instant)?

  /// Returns how long the holder has been there at least.
  mutating func age(of holder: BlockingBackend?, at now: ContinuousClock.Instant) -> Duration {
    guard let holder else {
      first = nil
      return .zero
    }
    let known = first.flatMap { $0.xid != nil && $0.xid == holder.xid ? $0.at : nil } ?? now
    first = (holder.xid, known)
    return max(holder.age ?? .zero, now - known)
  }
}
