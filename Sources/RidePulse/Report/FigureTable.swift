/// One row of figures: what it is, the old value and the new one.
struct FigureRow {
  var title: String
  var before: String?
  var after: String
  /// By how much a count differs; nil for what is no count.
  var difference: Int?

  /// The difference with its sign; empty without one.
  var change: String {
    guard let difference, difference != 0 else {
      return difference == nil && before != nil && before != after ? "differs" : ""
    }
    return difference > 0 ? "+\(difference)" : "\(difference)"
  }
}

/// Figures as a table of a page; on a narrow screen it becomes a list.
struct FigureTable {
  let caption: String
  let rows: [FigureRow]
  /// The names of the columns; nil without an old value.
  var names: (before: String, after: String)?

  var html: String {
    // A style that makes blocks of rows would else take the table from screen readers.
    var lines = [
      "<table role=\"table\">", "<caption>\(HTML.text(caption))</caption>",
    ]
    if let names {
      let heads = [names.before, names.after, "change"].map {
        "<th role=\"columnheader\" scope=\"col\">\(HTML.text($0))</th>"
      }
      lines.append(
        "<thead role=\"rowgroup\"><tr role=\"row\"><td role=\"cell\"></td>\(heads.joined())"
          + "</tr></thead>")
    }
    lines.append("<tbody role=\"rowgroup\">")
    lines += rows.map(line)
    return (lines + ["</tbody></table>"]).joined(separator: "\n")
  }

  private func line(_ row: FigureRow) -> String {
    var cells = "<th role=\"rowheader\" scope=\"row\">\(HTML.text(row.title))</th>"
    if let names {
      cells += cell(row.before ?? "-", names.before) + cell(row.after, names.after)
      cells += row.change.isEmpty ? "<td role=\"cell\"></td>" : cell(row.change, "change")
    } else {
      cells += "<td role=\"cell\">\(HTML.text(row.after))</td>"
    }
    let isDifferent = names != nil && row.before != row.after
    return "<tr role=\"row\"\(isDifferent ? " class=\"differs\"" : "")>\(cells)</tr>"
  }

  private func cell(_ text: String, _ name: String) -> String {
    "<td role=\"cell\" data-name=\"\(HTML.text(name))\">\(HTML.text(text))</td>"
  }
}
