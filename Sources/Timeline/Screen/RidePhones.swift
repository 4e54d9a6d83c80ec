package import Base
package import RideCore

/// The phones and cards of a real ride, and which of them a push reached.
package struct RidePhones: Sendable {
  package struct Phone: Hashable, Sendable {
    /// `devices.id`; below 0 for a phone that only the ledger knows.
    package var id: Int64
    package var app: App
    /// Nil for a phone that only the ledger knows.
    package var owner: OwnerID?
    package var platform: Platform
    package var installation: InstallationID?
    package var locale: String?
    /// The last six digits of its token; empty for a phone of which only a card is known.
    package var tokenSuffix: String

    package init(
      id: Int64, app: App, owner: OwnerID?, platform: Platform = .ios,
      installation: InstallationID? = nil, locale: String? = nil, tokenSuffix: String
    ) {
      self.id = id
      self.app = app
      self.owner = owner
      self.platform = platform
      self.installation = installation
      self.locale = locale
      self.tokenSuffix = tokenSuffix
    }
  }

  /// A Live Activity with a token.
  package struct Activity: Hashable, Sendable {
    package var app: App
    package var owner: OwnerID
    package var installation: InstallationID?
    package var tokenSuffix: String
    package var registeredAt: Timestamp
    /// When the person removed it; nil if they did not.
    package var dismissedAt: Timestamp?

    package init(
      app: App, owner: OwnerID, installation: InstallationID? = nil, tokenSuffix: String,
      registeredAt: Timestamp, dismissedAt: Timestamp? = nil
    ) {
      self.app = app
      self.owner = owner
      self.installation = installation
      self.tokenSuffix = tokenSuffix
      self.registeredAt = registeredAt
      self.dismissedAt = dismissedAt
    }
  }

  /// In the order of app, owner and ID.
  package private(set) var all: [Phone]
  let activities: [Activity]

  package init(_ phones: [Phone], activities: [Activity] = []) {
    all = phones
    self.activities = activities
    sort()
  }

  private mutating func sort() {
    all.sort {
      ($0.app.rawValue, $0.owner?.text ?? "", $0.id) < ($1.app.rawValue, $1.owner?.text ?? "", $1.id)
    }
  }

  /// Adds the phones that pushes reached and that are not registered any more.
  mutating func complete(with pushes: [AcceptedPush]) {
    for push in pushes where receivers(of: push).isEmpty {
      let isOfPhone = push.cardEvent == nil || push.platform == .android
      all.append(
        Phone(
          id: -Int64(all.count) - 1, app: push.app, owner: nil, platform: push.platform,
          tokenSuffix: isOfPhone ? push.tokenSuffix ?? "" : ""))
    }
    sort()
  }

  /// Returns the IDs of the phones that a push reached.
  ///
  /// As in `ScreenFeed`, a card whose app named no installation is on its owner's first iPhone, and every
  /// iPhone of the app subscribes to a channel.
  func receivers(of push: AcceptedPush) -> [Int64] {
    let own = all.filter { $0.app == push.app && $0.platform == push.platform }
    guard push.platform == .ios, push.cardEvent != nil else {
      return own.first { $0.tokenSuffix == push.tokenSuffix }.map { [$0.id] } ?? []
    }
    guard let suffix = push.tokenSuffix else { return own.map(\.id) }
    let activity = activities.last { $0.app == push.app && $0.tokenSuffix == suffix }
    let id = activity.map { phone(of: $0) } ?? own.first?.id
    return id.map { [$0] } ?? []
  }

  func phone(of activity: Activity) -> Int64? {
    let own = all.filter { $0.app == activity.app && $0.platform == .ios }
    let theirs = own.filter { $0.owner == activity.owner }
    let named = theirs.first {
      activity.installation != nil && $0.installation == activity.installation
    }
    return (named ?? theirs.first ?? own.first { $0.owner == nil })?.id
  }
}
