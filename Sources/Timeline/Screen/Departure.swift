package import Base
import RideCore

/// A push that a service accepted, and the phones that it is for.
package struct Departure: Sendable {
  package var at: Timestamp
  package var push: ScreenPush
  /// `Phone.id`
  package var phones: [Int64]
}

extension Pass {
  /// The pushes of the decision that a service accepted, in the order of their entries.
  package var departures: [Departure] {
    let view = decision.view
    let pushes = Dictionary(
      decision.pushes.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
    return settlement.entries.filter(\.isAcceptedPush).compactMap { entry in
      pushes[entry.id].map { push in
        Departure(
          at: now,
          push: ScreenPush(push, ofRide: view.rideID, channel: view.storage(ofChannelOf: entry)),
          phones: view.receivers(of: entry))
      }
    }
  }
}

extension RideView {
  /// Returns what APNs stores of the broadcasts of a card's channel.
  fileprivate func storage(ofChannelOf entry: LedgerEntry) -> ChannelStorage {
    guard case .channel(let id)? = entry.card else { return .latest }
    return channels.first { $0.id == id }?.storage ?? .latest
  }

  /// Returns the phones that a push reaches: `Phone.id`.
  ///
  /// A card whose app named no installation is on its owner's first iPhone, and a channel is received
  /// by every iPhone of its app.
  fileprivate func receivers(of entry: LedgerEntry) -> [Int64] {
    if let phone = phone(of: entry) { return [phone.id] }
    if case .channel? = entry.card {
      return phones.filter { $0.platform == .ios && $0.app == entry.app }.map(\.id)
    }
    return iPhone(of: entry).map { [$0.id] } ?? []
  }
}
