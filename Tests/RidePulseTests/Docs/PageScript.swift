import TestSupport
import Testing

/// The blocks of one stage of a page as steps, and what is made of their results.
struct PageScript {
  private let page: DocumentPage
  private(set) var steps: [DocumentStage.Step] = []
  private var blocks: [(content: Range<Int>, transcript: Transcript?, steps: Range<Int>)] = []

  init(_ page: DocumentPage, stage: String) {
    self.page = page
    for block in page.blocks {
      guard case .stage(stage, let setUp)? = block.comment else { continue }
      if !setUp.isEmpty { steps.append(.shell(setUp)) }
      let start = setUp.isEmpty ? steps.count : steps.count - 1
      let lines = page.content(of: block)
      let text = lines.joined(separator: "\n")
      let transcript =
        page.isTranscript(block) ? Transcript(lines, from: block.content.lowerBound + 1) : nil
      if let transcript {
        steps += transcript.exchanges.map { $0.isQuery ? .sql($0.command) : .shell($0.command) }
      } else if let file = page.file(of: block) {
        steps.append(.file(path: file, text: text))
      } else if !lines.isEmpty {
        steps.append(block.language == "sql" ? .sql(text) : .shell(text))
      }
      blocks.append((block.content, transcript, start..<steps.count))
    }
  }

  /// Records an issue for each difference; returns the blocks that have one, as they should be.
  func judge(_ results: [DocumentStage.Result], varies: Bool) -> [Range<Int>: [String]] {
    var comparison = OutputComparison(varies: varies)
    var recorded: [Range<Int>: [String]] = [:]
    for block in blocks {
      let exchanges = block.transcript?.exchanges ?? []
      let hidden = block.steps.dropLast(exchanges.count)
      for step in hidden where results[step].status != 0 {
        Issue.record("\(location(block.content.lowerBound)): \(steps[step].text)\n\(results[step])")
      }
      var isSame = true
      var lines: [String] = []
      for (exchange, step) in zip(exchanges, block.steps.suffix(exchanges.count)) {
        var exchange = exchange
        let output = results[step].output.map(\.withoutTrailingSpaces)
        if let difference = comparison.difference(page: exchange.output, output: output) {
          isSame = false
          report(exchange, difference, output)
          exchange.output = output
        }
        lines += exchange.printed
      }
      if !isSame { recorded[block.content] = lines }
    }
    return recorded
  }

  private func report(_ exchange: Transcript.Exchange, _ difference: String, _ output: [String]) {
    if Golden.isRecording { return }
    Issue.record(
      """
      \(location(exchange.line)): $ \(exchange.command)
      \(difference)
      RECORD_GOLDEN=1 writes:
      \(output.joined(separator: "\n"))
      """)
  }

  private func location(_ line: Int) -> String { "\(page.path):\(line)" }
}
