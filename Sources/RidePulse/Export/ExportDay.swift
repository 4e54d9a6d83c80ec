import Base
import RideCore

/// A day of the ledger, in UTC.
struct ExportDay: Hashable, Comparable {
  /// Days since 1970.
  let number: Int64

  /// - Returns: nil if the text is not a day such as `2026-11-28`.
  init?(_ text: String) {
    guard text.utf8.count == 10, let start = CivilTime.instant(iso: text + "T00:00:00Z") else {
      return nil
    }
    self.init(of: start)
  }

  /// The day of a time.
  init(of time: Timestamp) {
    let seconds = time.epochSeconds
    number = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
  }

  private init(number: Int64) { self.number = number }

  var start: Timestamp { Timestamp(epochSeconds: number * 86_400) }
  var next: ExportDay { ExportDay(number: number + 1) }

  /// `2026-11-28`
  var name: String { String(CivilTime.iso(start).prefix(10)) }

  static func < (left: ExportDay, right: ExportDay) -> Bool { left.number < right.number }

  /// Returns the days from one to another, both included.
  static func days(_ first: ExportDay, to last: ExportDay) -> [ExportDay] {
    first.number <= last.number
      ? (first.number...last.number).map { ExportDay(number: $0) } : []
  }
}
