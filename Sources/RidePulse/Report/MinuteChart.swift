/// The pushes of a day or a window by minute, as a picture.
struct MinuteChart {
  /// The first and the last minute since 1970.
  let minutes: Range<Int64>
  /// The height of the picture: two charts with one can be compared.
  let most: Int

  private static let height = 100.0

  func html(_ pushes: [Int64: Int], title: String, style: String) -> String {
    var path = ""
    for (minute, count) in pushes.sorted(by: { $0.key < $1.key }) where minutes.contains(minute) {
      let height = Self.tenths(Double(count) / Double(max(1, most)) * Self.height)
      path += "M\(minute - minutes.lowerBound) \(Int(Self.height))v-\(height)h1v\(height)z"
    }
    return """
      <figure><figcaption>\(HTML.text(title))</figcaption>
      <svg viewBox="0 0 \(minutes.count) \(Int(Self.height))" preserveAspectRatio="none" role="img" \
      aria-label="\(HTML.text(title))"><path class="\(style)" d="\(path)"/></svg>
      <div class="axis" aria-hidden="true">\(axis)</div></figure>
      """
  }

  /// The times of day at both ends and in the middle, in UTC.
  private var axis: String {
    let (first, end) = (minutes.lowerBound, minutes.upperBound)
    return [first, first + (end - first) / 2, end].map { minute in
      "<span>\(minute % 1440 / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)Z</span>"
    }.joined()
  }

  /// Formats a length with one decimal, the same on every machine.
  private static func tenths(_ length: Double) -> String {
    let tenths = Int((length * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
