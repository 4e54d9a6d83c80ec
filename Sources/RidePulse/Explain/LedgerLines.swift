import Base
import PostgresStore
import RideCore

/// Formats ledger rows for people.
struct LedgerLines {
  let zone: ZoneTimes?
  /// The revisions that the rows name, as far as they are recorded.
  let revisions: [Int32: RecordedRevision]

  /// The verdict of a row and, if something was sent, its headers.
  func lines(_ entry: LedgerRow) -> [String] {
    var verdict = entry.status
    if entry.status == "accepted", let latency = entry.latency { verdict += " after \(latency) ms" }
    if entry.attempts > 1 { verdict += ", \(entry.attempts) attempts" }
    if let reason = entry.reason { verdict += ": \(reason)" }
    if entry.rule.isEmpty { return ["  \(LedgerText.rule(entry.rule)): \(verdict)"] }
    if let seenAt = entry.seenAt, entry.status != LedgerEntry.Status.pending.rawValue {
      let after = (seenAt - entry.occurredAt).microseconds / 1000
      verdict += ", seen after \(after) ms"
    }
    // An event is not a push that was accepted.
    if !entry.kind.isSent, entry.status == LedgerEntry.Status.accepted.rawValue {
      return ["  \(entry.rule): \(entry.reason ?? "")"]
    }
    let kind = LedgerText.kind(entry.pushType, entry.cardEvent)
    let recipient = LedgerText.recipient(
      entry.app, of: entry.ownerID, entry.tokenSuffix, isAndroid: entry.isAndroid)
    let first = "  \(entry.rule) (\(kind)) to \(recipient): \(verdict)"
    let advice = self.advice(entry)
    guard let priority = entry.priority else { return [first] + advice }
    return [first, "      " + headers(entry, priority).joined(separator: ", ")] + advice
  }

  /// What was sent next to the content: the headers of APNs, or the same in FCM's words.
  private func headers(_ entry: LedgerRow, _ priority: Int64) -> [String] {
    var headers =
      entry.isAndroid
      ? ["rp_id \(entry.id)", "priority \(priority == 10 ? "HIGH" : "NORMAL")"]
      : ["apns-id \(entry.id)", "priority \(priority)"]
    if let expiration = entry.expiration {
      let time = CivilTime.clock(
        Timestamp(epochSeconds: expiration), zone, nextTo: entry.occurredAt)
      headers.append(expiration == 0 ? "never stored" : "expires \(time)")
    }
    if let collapse = entry.collapseID, collapse != entry.id {
      headers.append(entry.isAndroid ? "tag \(collapse)" : "collapse \(collapse)")
    }
    if let id = entry.uniqueID {
      headers.append(entry.isAndroid ? "FCM id \(id)" : "apns-unique-id \(id)")
    }
    return headers
  }

  /// How to resolve what APNs or the configuration refused; empty if nothing explains the reason.
  private func advice(_ entry: LedgerRow) -> [String] {
    guard let status = LedgerEntry.Status(rawValue: entry.status),
      [.rejected, .suppressed].contains(status), let word = entry.reasonCode,
      let explanation = LedgerReason.Code(word: word).explanation
    else { return [] }
    let variable = App(rawValue: entry.app).variableName
    return ["      fix: \(explanation.advice(variable: variable))"]
  }

  /// The rules and program versions that decided the rows, each with the time from which it was in
  /// use. Empty if no row names one.
  func decidedBy(_ rows: [LedgerRow]) -> [String] {
    var counts: [Int32: Int] = [:]
    for row in rows { if let id = row.decidedBy { counts[id, default: 0] += 1 } }
    if counts.isEmpty { return [] }
    let known = counts.keys.compactMap { revisions[$0] }.sorted { $0.firstSeen < $1.firstSeen }
    let unknown = counts.keys.filter { revisions[$0] == nil }.sorted()
    var lines = ["", "decided by"]
    for recorded in known {
      let revision = recorded.revision
      lines.append(
        "  rules \(revision.rules), ridepulse \(revision.version), in use since "
          + "\(CivilTime.local(recorded.firstSeen, zone)): "
          + counted(counts[revision.id] ?? 0, "decision"))
    }
    for id in unknown {
      lines.append(
        "  \(id), which \(Database.schema).revisions does not list, or this role may not read it: "
          + counted(counts[id] ?? 0, "decision"))
    }
    return lines
  }
}
