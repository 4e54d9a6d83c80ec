import Foundation
import RideCore

/// A progress line on the terminal; shows nothing if standard error is not a terminal.
struct ProgressLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var last: ContinuousClock.Instant?

  /// Shows the progress, a few times per second at most.
  mutating func show(_ text: @autoclosure () -> String) {
    let now = ContinuousClock.now
    guard isShown, last.map({ now - $0 > .milliseconds(200) }) ?? true else { return }
    last = now
    Terminal.write("\r\u{1b}[K" + Escape.line(text()), to: STDERR_FILENO)
  }

  /// Removes the line.
  func end() {
    if isShown { Terminal.write("\r\u{1b}[K", to: STDERR_FILENO) }
  }
}
