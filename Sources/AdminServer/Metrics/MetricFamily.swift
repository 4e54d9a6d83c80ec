package import RideCore

/// A metric with all its samples, in Prometheus' text format (version 0.0.4).
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable {
    /// Values only rise, except after a restart of the process; the name ends in `_total`.
    case counter
    case gauge
    /// Cumulative counts by upper bound, with the sum of all values.
    case histogram
  }

  package struct Sample: Hashable, Sendable {
    /// The part after the family's name: `_bucket`, `_sum` and `_count` of a histogram.
    package var suffix = ""
    /// The labels in the order of output.
    package var labels: [Label]
    package var value: Double
  }

  package struct Label: Hashable, Sendable {
    /// A name of the form `[a-z_]+`.
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The full name, including the unit.
  package let name: String
  /// The help text, one sentence.
  package let help: String
  package let kind: Kind
  package private(set) var samples: [Sample] = []

  package init(_ kind: Kind, _ name: String, _ help: String) {
    self.kind = kind
    self.name = name
    self.help = help
  }

  package init(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    self.init(kind, name, help)
    add(value)
  }

  package mutating func add(_ value: Double, _ labels: [Label] = []) {
    samples.append(Sample(labels: labels, value: value))
  }

  /// - Parameters:
  ///   - bounds: the upper bounds in rising order, without the infinite one.
  ///   - counts: the number of values in each bucket, not cumulative; one more than there are
  ///     bounds.
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

  /// Returns the family with a further label of all samples, before their own.
  package func labelled(_ name: String, _ value: String) -> MetricFamily {
    var family = self
    for index in family.samples.indices {
      family.samples[index].labels.insert(Label(name, value), at: 0)
    }
    return family
  }

  package mutating func add(samplesOf other: MetricFamily) { samples += other.samples }

  package mutating func add(_ histogram: DurationHistogram, _ labels: [Label] = []) {
    add(
      bounds: DurationHistogram.bounds, counts: histogram.counts, sum: histogram.seconds, labels)
  }

  /// Renders families in Prometheus' text format; a family without samples still has its HELP and
  /// TYPE lines.
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
