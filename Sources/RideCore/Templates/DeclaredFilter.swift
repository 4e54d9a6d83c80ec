// Whether a filter can show a value of a declared type.

extension Placeholder {
  /// A filter that fails for each value of the declared type, by name, and what it needs; nil if
  /// there is none.
  ///
  /// Only the first filter that converts the value sees the declared type.
  var unfitting: (name: String, needs: String)? {
    guard let declared else { return nil }
    let first = filters.first {
      switch $0 {
      case .fallback, .zone: false
      default: true
      }
    }
    switch (first, declared) {
    case (.time, .time), (.date, .time), (.weekday, .time), (.relative, .time), (.epoch, .time):
      return nil
    case (.time?, _), (.date?, _), (.weekday?, _), (.relative?, _), (.epoch?, _):
      let name = Filter.plain.first { $0.value == first }?.key ?? ""
      return (name, "a time")
    case (.currency?, .time), (.currency?, .flag), (.currency?, .words), (.currency?, .object),
      (.currency?, .list):
      return ("currency", "a number")
    case (.plural?, .flag), (.plural?, .words), (.plural?, .object), (.plural?, .list):
      return ("plural", "a number")
    case (.int?, .flag), (.int?, .words), (.int?, .object), (.int?, .list):
      return ("int", "a number")
    default: return nil
    }
  }
}
