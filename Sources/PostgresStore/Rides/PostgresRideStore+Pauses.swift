import Base
import RideCore
import Synchronization

/// Which pauses a store has read.
struct PausesRead {
  /// `ClaimColumns.pauses` of the claim after which they were read.
  var number: Int64?
  /// Set while they can't be read, so that a failure is logged once and not at each claim.
  var isFailing = false
}

// The pauses of rules, events and apps. An idle node runs no statement of its own for them.
extension PostgresRideStore {
  /// Reads the pauses if a claim found that they are others.
  func followPauses(_ number: Int64?) async {
    guard let number, pausesRead.withLock({ $0.number }) != number else { return }
    do {
      let pauses = try await PauseTable.read(claims)
      pausesRead.withLock { $0 = PausesRead(number: number) }
      onPauses(pauses)
    } catch {
      let isKnown = pausesRead.withLock { read in
        defer { read.isFailing = true }
        return read.isFailing
      }
      if !isKnown { log(.warning, .pausesNotRead, ["error": "\(error)"]) }
    }
  }
}
