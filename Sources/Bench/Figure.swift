import Foundation

/// One measured value of a part.
struct Figure: Codable, Hashable {
  /// What a value is shown in.
  enum Unit: String, Codable {
    /// Microseconds, shown as multiples of what h2load needs for a push in the same minute.
    case pushes
    /// As it is.
    case plain
  }

  /// The heading that it is shown under.
  var group: String
  var name: String
  /// Nil if it can't be measured here.
  var value: Double?
  /// Why it can't, in a word or two.
  var absence: String?
  var unit: Unit
  /// The number of decimals to show.
  var digits: Int
  var goal: String

  static func cpu(_ group: String, _ name: String, _ microseconds: Double?, goal: String = "")
    -> Self
  {
    Figure(
      group: group, name: name, value: microseconds, unit: .pushes, digits: 2, goal: goal)
  }

  static func plain(
    _ group: String, _ name: String, _ value: Double?, digits: Int = 1, goal: String = ""
  ) -> Self {
    Figure(group: group, name: name, value: value, unit: .plain, digits: digits, goal: goal)
  }

  /// Returns the figure with the reason that is shown if it has no value.
  func orShow(_ absence: String) -> Self {
    var figure = self
    figure.absence = absence
    return figure
  }

  /// Returns figures as one line of JSON, for the process that started this one.
  static func json(_ figures: [Figure]) throws -> String {
    String(decoding: try JSONEncoder().encode(figures), as: UTF8.self)
  }
}

/// The middle and the ends of repeated measurements.
struct Spread: Hashable {
  let median: Double
  let least: Double
  let most: Double

  /// Nil without values.
  init?(_ values: [Double]) {
    let sorted = values.sorted()
    guard let least = sorted.first, let most = sorted.last else { return nil }
    self.least = least
    self.most = most
    let middle = sorted.count / 2
    median =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  func text(_ digits: Int) -> String {
    "\(Figures.number(median, digits)) (\(Figures.number(least, digits))–"
      + "\(Figures.number(most, digits)))"
  }
}

/// Prints figures next to their goals.
enum Figures {
  static func head(_ text: String) {
    print("\n" + text)
  }

  static func row(_ name: String, _ figure: String, goal: String = "") {
    print("  \(wide(name, 44))\(wide(figure, 18))\(goal.isEmpty ? "" : "goal \(goal)")")
  }

  /// Fills a text with blanks; one that is longer stays whole, with one behind it.
  static func wide(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func number(_ value: Double, _ digits: Int = 1) -> String {
    value.formatted(.number.precision(.fractionLength(digits)).grouping(.automatic))
  }
}
