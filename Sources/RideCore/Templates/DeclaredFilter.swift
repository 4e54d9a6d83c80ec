// Whether a filter can show a value of a declared type.

import Base

extension Placeholder {
  /// A filter that fails for each value of the declared type, by name, or a word of `select` that no
  /// value is; and what is needed. Nil if there is none.
  ///
  /// Only the first filter that converts the value sees the declared type.
  var unfitting: (name: String, needs: String, nearest: String?)? {
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
      return (name, "a time", nil)
    case (.currency?, .time), (.currency?, .flag), (.currency?, .words), (.currency?, .object),
      (.currency?, .list):
      return ("currency", "a number", nil)
    case (.plural?, .flag), (.plural?, .words), (.plural?, .object), (.plural?, .list):
      return ("plural", "a number", nil)
    case (.int?, .flag), (.int?, .words), (.int?, .object), (.int?, .list):
      return ("int", "a number", nil)
    case (.select(let forms)?, .words(let words)):
      let defaults = filters.compactMap { filter in
        if case .fallback(let value) = filter { value.text } else { nil }
      }
      let unknown = forms.words.first { !words.contains($0) && !defaults.contains($0) }
      return unknown.map { ($0, "a declared word in select", nearestWord(to: $0, among: words)) }
    default: return nil
    }
  }
}
