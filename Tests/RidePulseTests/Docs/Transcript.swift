import Foundation

/// Commands with the output that a page prints for each.
struct Transcript {
  var exchanges: [Exchange] = []

  struct Exchange {
    /// The line of the page.
    let line: Int
    /// Of several lines if the page has `> ` below the prompt.
    var command: String
    let isQuery: Bool
    var output: [String] = []

    /// The lines as a page has them.
    var printed: [String] {
      let lines = command.components(separatedBy: "\n")
      return [(isQuery ? "=> " : "$ ") + lines[0]] + lines.dropFirst().map { "> " + $0 } + output
    }
  }

  /// Reads the lines of a block whose first line has a number on its page.
  init(_ lines: [String], from first: Int) {
    for (number, line) in zip(first..., lines) {
      if DocumentPage.isCommand(line) {
        let isQuery = line.hasPrefix("=> ")
        exchanges.append(
          Exchange(
            line: number, command: String(line.dropFirst(isQuery ? 3 : 2)), isQuery: isQuery))
      } else if line.hasPrefix("> "), exchanges.last?.output.isEmpty == true {
        exchanges[exchanges.count - 1].command += "\n" + line.dropFirst(2)
      } else if !exchanges.isEmpty {
        exchanges[exchanges.count - 1].output.append(line)
      }
    }
  }
}
