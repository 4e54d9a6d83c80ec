import Base
import Foundation
import RideCore
import Synchronization

/// Shows the demo: as a live screen on a terminal, as one line for each push in a pipe.
final class DemoView: Sendable {
  private let board: Mutex<DemoBoard>
  private let isInteractive = Terminal.isInteractive

  init(notice: String) {
    board = Mutex(DemoBoard(notice: notice))
  }

  func observe(_ step: Fleet.Step) {
    board.withLock { $0.observe(step) }
  }

  func observe(_ settlements: [Settlement]) {
    for settlement in settlements {
      // Whether an offer rings again has a line when it is decided.
      for entry in settlement.entries
      where entry.kind != .escalation || entry.status != .pending {
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

  func begin() {
    if isInteractive { Terminal.write("\u{1b}[2J\u{1b}[?25l", to: STDOUT_FILENO) }
  }

  func end() {
    if isInteractive { Terminal.write("\u{1b}[?25h", to: STDOUT_FILENO) }
  }

  /// The numbers of rides and changes shown.
  var totals: (rides: Int, changes: Int) { board.withLock { ($0.rides, $0.changes) } }
}

/// Counts what happened in the demo so far, and formats it for people.
struct DemoBoard {
  /// The last line but one.
  private let notice: String
  private(set) var rides = 0
  private(set) var changes = 0
  private var counts: [LedgerEntry.Status: Int] = [:]
  private var lives: [(ride: String, state: String, last: String)] = []
  private var recent: [String] = []
  private let height = 12

  init(notice: String = "") {
    self.notice = notice
  }

  /// Records a step of the fleet that was written to the database.
  mutating func observe(_ step: Fleet.Step) {
    changes += 1
    switch step {
    case .offerCard, .card: break
    case .request(let ride, _, _, _, _):
      rides += 1
      lives.append((ride, "requested", ""))
      // Rides in progress stay on the screen; of finished ones only the last few.
      if lives.count > height,
        let over = lives.firstIndex(where: { Fleet.finalStates.contains($0.state) })
      {
        lives.remove(at: over)
      }
    case .assign(let ride, _): change(ride) { $0.state = "driver_assigned" }
    case .state(let ride, let state): change(ride) { $0.state = state }
    case .emit, .learn: break
    }
  }

  /// Records a new ledger row; returns the line that shows it.
  mutating func observe(_ entry: LedgerEntry, of ride: String) -> String {
    if entry.kind == .push { counts[entry.status, default: 0] += 1 }
    let recipient = LedgerText.recipient(entry.app.rawValue, entry.tokenSuffix)
    let kind = LedgerText.kind(entry.typeName, entry.cardEvent?.rawValue)
    let line = Escape.line(
      "\(padded(ride, to: 9)) \(padded(entry.event.name, to: 22)) \(padded(recipient, to: 17)) "
        + "\(padded(kind, to: 11)) "
        + LedgerText.outcome(entry))
    recent = Array((recent + [line]).suffix(8))
    change(ride) {
      $0.last = Escape.line("\(LedgerText.rule(entry.rule)) \(entry.status.rawValue)")
    }
    return line
  }

  func screen(elapsed: Duration) -> [String] {
    let tally = LedgerEntry.Status.allCases.compactMap { status in
      counts[status].map { "\($0) \(status.rawValue)" }
    }
    let head =
      "RidePulse demo  \(elapsed.components.seconds) s   \(rides) rides, \(changes) changes; "
      + "pushes: \(tally.isEmpty ? "none yet" : tally.joined(separator: ", "))"
    let rows = lives.suffix(height).map { life in
      "  \(padded(life.ride, to: 9)) \(padded(life.state, to: 22)) \(life.last)"
    }
    return [head, ""] + rows + [""] + recent.map { "  " + $0 } + ["", notice, "Ctrl-C ends it."]
  }

  private mutating func change(
    _ ride: String, _ body: (inout (ride: String, state: String, last: String)) -> Void
  ) {
    guard let index = lives.firstIndex(where: { $0.ride == ride }) else { return }
    body(&lives[index])
  }
}
