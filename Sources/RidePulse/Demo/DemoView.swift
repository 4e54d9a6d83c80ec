import Foundation
import RideCore
import Synchronization

/// Shows the demo: as a live screen on a terminal, as one line for each push in a pipe.
final class DemoView: Sendable {
  private let board = Mutex(DemoBoard())
  private let isInteractive = Terminal.isInteractive

  func observe(_ step: Fleet.Step) {
    board.withLock { $0.observe(step) }
  }

  func observe(_ settlements: [Settlement]) {
    for settlement in settlements {
      for entry in settlement.entries {
        let line = board.withLock { $0.observe(entry, of: settlement.rideID.text) }
        if !isInteractive { Terminal.print(line) }
      }
    }
  }

  func draw(elapsed: Duration) {
    guard isInteractive else { return }
    let lines = board.withLock { $0.screen(elapsed: elapsed) }
    // Moves the cursor home, clears each line after its text, and clears the screen below.
    Terminal.write(
      "\u{1b}[H" + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J", to: STDOUT_FILENO)
  }

  /// Clears the terminal and hides the cursor.
  func begin() {
    if isInteractive { Terminal.write("\u{1b}[2J\u{1b}[?25l", to: STDOUT_FILENO) }
  }

  /// Shows the cursor again.
  func end() {
    if isInteractive { Terminal.write("\u{1b}[?25h", to: STDOUT_FILENO) }
  }

  /// The numbers of rides and changes shown.
  var totals: (rides: Int, changes: Int) { board.withLock { ($0.rides, $0.changes) } }
}
