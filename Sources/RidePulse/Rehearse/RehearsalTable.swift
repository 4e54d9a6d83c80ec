import Base
import RideCore
import Timeline

/// Formats a rehearsal for people.
struct RehearsalTable {
  let report: RehearsalReport

  var text: String {
    var lines = heading
    lines += table
    lines.append("")
    lines += promises
    lines += report.limitText.lines()
    if report.before != nil { lines += [""] + report.changeText.lines }
    if !report.failures.isEmpty {
      let words = report.failures.map { "\($0.word.rawValue) (\($0.count))" }
      lines += ["", "failed: " + words.joined(separator: ", ")]
    }
    return lines.map { Escape.line($0) + "\n" }.joined()
  }

  private var heading: [String] {
    let header = report.header
    var day = "day    \(CivilTime.exact(header.from)) to \(CivilTime.exact(header.to)), "
    day += "\(counted(report.after.rides, "ride")), \(counted(report.lines, "line"))"
    if header.sample != 100 {
      let isWhole = header.sample == header.sample.rounded()
      day += ", a sample of \(isWhole ? "\(Int(header.sample))" : "\(header.sample)") %"
    }
    if let engine = header.engine { day += ", recorded by ridepulse \(engine)" }
    var lines = [day, "rules  \(report.name), \(report.digest)"]
    if let schedules = header.schedules, schedules != report.digest {
      lines.append("       the day was recorded with \(schedules)")
    }
    return lines + [""]
  }

  private var table: [String] {
    let rows = report.rows
    guard let other = report.otherName else {
      let width = rows.map(\.title.count).max() ?? 0
      return rows.map { padded($0.title, to: width + 2) + $0.after }
    }
    let titles = rows.map(\.title.count).max() ?? 0
    let olds = ([other] + rows.map { $0.before ?? "" }).map(\.count).max() ?? 0
    let news = ([report.name] + rows.map(\.after)).map(\.count).max() ?? 0
    func line(_ title: String, _ old: String, _ new: String, _ change: String) -> String {
      let line =
        padded(title, to: titles + 2) + padded(old, to: olds + 2) + padded(new, to: news + 2)
        + change
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
    return [line("", other, report.name, "change")]
      + rows.map { line($0.title, $0.before ?? "", $0.after, $0.change) }
  }

  private var promises: [String] {
    if report.after.breaches.isEmpty { return ["promises: all kept"] }
    return report.after.breaches.map { breach in
      "broken promise: \(breach.promise): \(breach.count), such as \(breach.example)"
    }
  }
}
