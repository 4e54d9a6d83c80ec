import PostgresStore
import RideCore

/// A ride's history in time order: what each event led to.
struct RideStory {
  /// An event or a schedule slot, and what was decided for it.
  struct Chapter {
    var at: Timestamp
    var event: String
    var eventID: Int64?
    /// Whether the event still waits to be processed.
    var isWaiting = false
    var entries: [LedgerRow] = []
  }

  let id: String
  let history: RideHistory
  let chapters: [Chapter]

  init(_ history: RideHistory, of id: String) {
    self.id = id
    self.history = history
    var chapters: [Chapter] = []
    for entry in history.entries {
      if let last = chapters.last, last.eventID == entry.eventID, last.at == entry.occurredAt,
        last.event == entry.event
      {
        chapters[chapters.count - 1].entries.append(entry)
      } else {
        chapters.append(
          Chapter(
            at: entry.occurredAt, event: entry.event, eventID: entry.eventID, entries: [entry]))
      }
    }
    chapters += history.waiting.map {
      Chapter(at: $0.at, event: $0.name, eventID: $0.id, isWaiting: true)
    }
    // A push that was retried is listed with its event, and not at the time of its verdict.
    self.chapters = chapters.sorted { ($0.at, $0.eventID ?? 0) < ($1.at, $1.eventID ?? 0) }
  }
}

extension LedgerRow {
  /// The time from the event or slot to the verdict, in milliseconds.
  var latency: Int64? { finishedAt.map { ($0 - occurredAt).microseconds / 1000 } }
}
