/// One metric with all its samples, as Prometheus' text format (version 0.0.4) has it.
package struct MetricFamily: Hashable, Sendable {
  /// What kind of values it has.
  package enum Kind: String, Sendable {
    /// They only rise, but for a new start of the process; the name ends in `_total`.
    case counter
    /// They rise and fall.
    case gauge
    /// Counts below bounds, with their sum.
    case histogram
  }

  /// One value with its labels.
  package struct Sample: Hashable, Sendable {
    /// What follows the family's name: `_bucket`, `_sum` and `_count` of a histogram.
    package var suffix = ""
    /// Names and values, in order.
    package var labels: [Label]
    /// The value.
    package var value: Double
  }

  /// A label of a sample.
  package struct Label: Hashable, Sendable {
    /// `[a-z_]+`.
    package var name: String
    /// Any text.
    package var value: String

    /// A label.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The whole name, with its unit.
  package let name: String
  /// What it says, in a sentence.
  package let help: String
  /// What kind of values it has.
  package let kind: Kind
  /// Its values.
  package private(set) var samples: [Sample] = []

  /// A metric without samples yet.
  package init(_ kind: Kind, _ name: String, _ help: String) {
    self.kind = kind
    self.name = name
    self.help = help
  }

  /// A metric with one value.
  package init(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    self.init(kind, name, help)
    add(value)
  }

  /// Adds a value.
  package mutating func add(_ value: Double, _ labels: [Label] = []) {
    samples.append(Sample(labels: labels, value: value))
  }

  /// Adds a histogram.
  ///
  /// - Parameters:
  ///   - bounds: upper bounds, rising, without the infinite one.
  ///   - counts: how many values lay in each, one more than there are bounds; not summed up.
  ///   - sum: the sum of all values.
  package mutating func add(bounds: [Double], counts: [Int], sum: Double, _ labels: [Label]) {
    var total = 0
    for (index, count) in counts.enumerated() {
      total += count
      let bound = index < bounds.count ? Self.text(bounds[index]) : "+Inf"
      samples.append(
        Sample(suffix: "_bucket", labels: labels + [Label("le", bound)], value: Double(total)))
    }
    samples.append(Sample(suffix: "_sum", labels: labels, value: sum))
    samples.append(Sample(suffix: "_count", labels: labels, value: Double(total)))
  }

  /// The whole page; a metric that has no samples yet is named all the same.
  package static func page(_ families: [MetricFamily]) -> String {
    var page = ""
    for family in families {
      page += "# HELP \(family.name) \(escaped(family.help))\n"
      page += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for sample in family.samples {
        page += family.name + sample.suffix
        if !sample.labels.isEmpty {
          let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
          page += "{\(labels.joined(separator: ","))}"
        }
        page += " \(text(sample.value))\n"
      }
    }
    return page
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  private static func text(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    if value == -.infinity { return "-Inf" }
    if value.isNaN { return "NaN" }
    return Int64(exactly: value).map { String($0) } ?? "\(value)"
  }
}
