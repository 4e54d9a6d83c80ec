import Base
import PostgresStore

/// Writes verdicts to one file for each day; a file has its name only when the day is complete.
final class ExportFiles {
  private let format: ExportFormat
  private let path: (ExportDay) -> String
  /// The days that are to be written and are not complete.
  private var days: Set<ExportDay>
  private var open: [ExportDay: (output: DayOutput, rows: Int)] = [:]
  /// Receives each complete day with its number of rows.
  private let isDone: (ExportDay, Int) -> Void

  init(
    _ days: [ExportDay], _ format: ExportFormat, path: @escaping (ExportDay) -> String,
    isDone: @escaping (ExportDay, Int) -> Void
  ) {
    self.days = Set(days)
    (self.format, self.path, self.isDone) = (format, path, isDone)
  }

  func write(_ deliveries: [Delivery]) throws {
    for delivery in deliveries {
      guard let time = delivery.finishedAt else { continue }
      let day = ExportDay(of: time)
      if days.contains(day) { try write(delivery, of: day) }
    }
    guard let newest = deliveries.compactMap(\.finishedAt).max() else { return }
    try complete { $0.next.start + DeliveryExport.settling <= newest }
  }

  /// Completes all days, also those without a verdict.
  func end() throws { try complete { _ in true } }

  private func write(_ delivery: Delivery, of day: ExportDay) throws {
    var file = try open[day] ?? (output(day), 0)
    try file.output.write(format.line(delivery))
    file.rows += 1
    open[day] = file
  }

  private func output(_ day: ExportDay) throws -> DayOutput {
    let output = try DayOutput(path: path(day))
    if let header = format.header { try output.write(header) }
    return output
  }

  private func complete(_ isComplete: (ExportDay) -> Bool) throws {
    for day in days.sorted() where isComplete(day) {
      let file = try open.removeValue(forKey: day) ?? (output(day), 0)
      try file.output.close()
      days.remove(day)
      isDone(day, file.rows)
    }
  }
}
