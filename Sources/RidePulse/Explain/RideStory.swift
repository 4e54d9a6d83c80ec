import PostgresStore
import RideCore

/// A ride's history in the order in which it happened: what each event led to.
struct RideStory {
  /// An event or a slot of time, and what was decided of it.
  struct Chapter {
    var at: Timestamp
    var event: String
    var eventID: Int64?
    /// Nobody has handled it yet.
    var isWaiting = false
    var entries: [RideHistory.Entry] = []
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
    // A push that is tried again stands with what it tells of, and not where it ended.
    self.chapters = chapters.sorted { ($0.at, $0.eventID ?? 0) < ($1.at, $1.eventID ?? 0) }
  }
}

extension RideHistory.Entry {
  /// From what it tells of to its verdict, in milliseconds.
  var latency: Int64? { finishedAt.map { ($0 - occurredAt).microseconds / 1000 } }
}
