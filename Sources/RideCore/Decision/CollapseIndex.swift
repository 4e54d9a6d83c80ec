/// Tracks the newest push for each collapse key: one recipient, push type and collapse ID.
///
/// A push that is sent after a newer one of its key would bring back outdated content. The push
/// type counts because a background push replaces nothing on the screen.
struct CollapseIndex {
  private struct Key: Hashable {
    var recipient: LedgerEntry.Recipient
    var pushType: PushType
    /// Compared by bytes, as at APNs.
    var collapseID: [UInt8]
  }

  private var newest: [Key: RideEvent] = [:]

  init(_ pushes: [PlannedPush] = []) {
    for push in pushes { add(push.entry) }
  }

  /// Adds a push that is sent or waits.
  mutating func add(_ entry: LedgerEntry) {
    guard let key = Self.collapseKey(of: entry) else { return }
    if let known = newest[key], !entry.event.isNewer(than: known) { return }
    newest[key] = entry.event
  }

  /// Returns the event whose push replaces this one; nil if this one is the newest.
  func successor(of entry: LedgerEntry) -> RideEvent? {
    guard let event = Self.collapseKey(of: entry).flatMap({ newest[$0] }) else { return nil }
    return event.isNewer(than: entry.event) ? event : nil
  }

  private static func collapseKey(of entry: LedgerEntry) -> Key? {
    guard let recipient = entry.recipient, let collapseID = entry.collapseID else { return nil }
    return Key(
      recipient: recipient, pushType: entry.pushType, collapseID: Array(collapseID.utf8))
  }
}
