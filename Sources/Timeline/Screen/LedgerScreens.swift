package import Base
package import RideCore

/// What the phones of a real ride show over time, as far as it is stored.
///
/// The ledger states what was accepted, when and for which token; a `RecordedRide` adds the content.
/// Each phone is taken as on, without a Focus: no table knows that.
package struct LedgerScreens: Sendable {
  package struct Phone: Sendable {
    package var identity: RidePhones.Phone
    /// From each step on, the screen is like this until the next one.
    package var steps: [Screen] = []
    /// Whether older steps were left out.
    package var isCut = false
  }

  /// What is known of a ride.
  package struct Source: Sendable {
    package var ride: RideID
    package var phones: RidePhones
    /// In the order in which they were accepted.
    package var pushes: [AcceptedPush]
    /// Nil if the ride was not recorded.
    package var recorded: RecordedRide?

    package init(
      ride: RideID, phones: RidePhones, pushes: [AcceptedPush], recorded: RecordedRide? = nil
    ) {
      self.ride = ride
      self.phones = phones
      self.pushes = pushes
      self.recorded = recorded
    }
  }

  package private(set) var phones: [Phone] = []
  /// How many pushes have no content: those of other rules, and all others.
  package private(set) var unknownOfOtherRules = 0
  package private(set) var unknown = 0

  /// The most steps of a phone.
  package static let stepLimit = 300

  /// - Parameter end: The last time of interest: mostly now.
  package init(_ source: Source, until end: Timestamp) {
    var source = source
    var feed = ScreenFeed()
    source.phones.complete(with: source.pushes)
    for activity in source.phones.activities { activity.add(to: &feed, source) }
    add(source.pushes, of: &source, to: &feed)
    phones = source.phones.all.map { identity in
      var phone = Phone(identity: identity)
      for screen in feed.changes(of: identity, until: end) {
        phone.steps.append(screen)
        guard phone.steps.count > Self.stepLimit else { continue }
        phone.steps.removeFirst()
        phone.isCut = true
      }
      return phone
    }
  }

  private mutating func add(
    _ pushes: [AcceptedPush], of source: inout Source, to feed: inout ScreenFeed
  ) {
    let contents = pushes.map { push in
      push.isOfTheseRules && source.phones.isAssigned(push) ? source.recorded?.take(push) : nil
    }
    for (push, content) in zip(pushes, contents) {
      if content == nil {
        if push.isOfTheseRules { unknown += 1 } else { unknownOfOtherRules += 1 }
      }
      for phone in source.phones.receivers(of: push) {
        let named = content.map { ScreenPush($0, ofRide: source.ride) }
        let known = named?.onPhone(phone, ofRide: source.ride)
        let card = ScreenPush.androidCard(of: phone, ofRide: source.ride)
        let sent = known ?? ScreenPush(unknown: push, ofRide: source.ride, androidCard: card)
        feed.add(.push(sent), to: phone, at: push.at)
      }
    }
  }
}

extension ScreenPush {
  /// How a service names the card of a ride on an Android phone.
  fileprivate static func androidCard(of phone: Int64, ofRide ride: RideID) -> String {
    "\(phone).\(ride.text)"
  }

  /// Returns a push that was decided again as it was sent: that phone has another ID in a replay.
  fileprivate func onPhone(_ phone: Int64, ofRide ride: RideID) -> ScreenPush {
    guard case .object(var payload) = payload, case .object(var message)? = payload["message"],
      case .object(var data)? = message["data"], data["rp_card"] != nil
    else { return self }
    data["rp_card"] = .string(Self.androidCard(of: phone, ofRide: ride))
    message["data"] = .object(data)
    payload["message"] = .object(message)
    var push = self
    push.payload = .object(payload)
    return push
  }
}

extension RidePhones.Activity {
  /// Adds what the app did with the card: it started it, unless a push had, and a person removed it.
  fileprivate func add(to feed: inout ScreenFeed, _ source: LedgerScreens.Source) {
    guard let phone = source.phones.phone(of: self) else { return }
    let own = source.pushes.filter { source.phones.activity(of: $0) == self }
    if !own.contains(where: { $0.cardEvent == .start }) {
      // An app registers a card again at each launch, and the row has the last time alone.
      let start = own.map(\.at).reduce(registeredAt, min)
      feed.add(.startsCard(source.ride.text), to: phone, at: start)
    }
    if let dismissedAt { feed.add(.removesCard(source.ride.text), to: phone, at: dismissedAt) }
  }
}

extension ScreenFeed {
  /// Returns a phone's screen each time that it changes, with what was lost since the time before.
  fileprivate func changes(
    of phone: RidePhones.Phone, until end: Timestamp
  ) -> AnyIterator<Screen> {
    let scenario = times(of: phone.id).first.map { start in
      ScenarioPhone(name: nil, id: phone.id, platform: phone.platform, start: start)
    }
    var run = scenario.map(self.run)
    var last: Screen?
    return AnyIterator {
      while let instant = run?.next, instant <= end, let screen = run?.screen(at: instant) {
        if last?.looksLike(screen) == true { continue }
        run?.forgetOutcomes()
        last = screen.withoutMemory
        return last
      }
      return nil
    }
  }
}

extension Screen {
  fileprivate func looksLike(_ later: Screen) -> Bool {
    notifications == later.notifications && cards == later.cards && badge == later.badge
      && cards.map { $0.isStale(at: now) } == later.cards.map { $0.isStale(at: later.now) }
  }
}
