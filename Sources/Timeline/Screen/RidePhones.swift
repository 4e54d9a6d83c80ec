package import Base
package import RideCore

/// The phones and cards of a real ride, and which of them a push reached.
package struct RidePhones: Sendable {
  package struct Phone: Hashable, Sendable {
    /// `devices.id`; below 0 for a phone that only the ledger knows.
    package var id: Int64
    package var app: App
    /// Nil for a phone that only the ledger knows, if its row names no owner.
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
    func place(_ phone: Phone) -> (String, String, Int64) {
      (phone.app.rawValue, phone.owner?.text ?? "", phone.id)
    }
    all.sort { place($0) < place($1) }
  }

  /// Adds the phones that pushes reached and that are not registered any more.
  mutating func complete(with pushes: [AcceptedPush]) {
    // A card may be on a phone that an alert names.
    for push in pushes.filter({ !$0.isOfActivity }) + pushes.filter(\.isOfActivity)
    where receivers(of: push).isEmpty {
      all.append(
        Phone(
          id: -Int64(all.count) - 1, app: push.app,
          owner: push.owner ?? activity(of: push)?.owner, platform: push.platform,
          tokenSuffix: push.isOfActivity ? "" : push.tokenSuffix ?? ""))
    }
    sort()
  }

  /// Returns the IDs of the phones that a push reached.
  ///
  /// As in `ScreenFeed`, a card whose app named no installation is on its owner's first iPhone, and every
  /// iPhone of the app subscribes to a channel. A card without a known owner is on no person's phone.
  func receivers(of push: AcceptedPush) -> [Int64] {
    let own = all.filter { $0.app == push.app && $0.platform == push.platform }
    guard push.isOfActivity else {
      return own.first { $0.tokenSuffix == push.tokenSuffix }.map { [$0.id] } ?? []
    }
    if push.tokenSuffix == nil { return own.map(\.id) }
    let id = activity(of: push).map { phone(of: $0) } ?? iPhone(of: push.owner, in: push.app)
    return id.map { [$0] } ?? []
  }

  func phone(of activity: Activity) -> Int64? {
    let named = all.first {
      $0.app == activity.app && $0.platform == .ios && $0.owner == activity.owner
        && activity.installation != nil && $0.installation == activity.installation
    }
    return named?.id ?? iPhone(of: activity.owner, in: activity.app)
  }

  /// Returns a person's first iPhone, mostly a registered one.
  private func iPhone(of owner: OwnerID?, in app: App) -> Int64? {
    let theirs = all.filter { $0.app == app && $0.platform == .ios && $0.owner == owner }
    return (theirs.first { $0.id > 0 } ?? theirs.first)?.id
  }

  /// Returns the card that a push was for: the one with its token, else the person's that was
  /// registered next. A start has a token of its own, and the row of a card only its last token.
  func activity(of push: AcceptedPush) -> Activity? {
    guard push.isOfActivity, let suffix = push.tokenSuffix else { return nil }
    let own = activities.filter {
      $0.app == push.app && (push.owner == nil || $0.owner == push.owner)
    }
    if let named = own.last(where: { $0.tokenSuffix == suffix }) { return named }
    if push.owner == nil { return nil }
    return own.filter { $0.registeredAt >= push.at }.min { $0.registeredAt < $1.registeredAt }
  }

  /// Returns whether a push can be given to a person's phone; if not, several people's cards may be on
  /// the one that stands for it.
  func isAssigned(_ push: AcceptedPush) -> Bool {
    !push.isOfActivity || push.tokenSuffix == nil || push.owner != nil
      || activity(of: push) != nil
  }
}

extension AcceptedPush {
  /// Whether it is for a Live Activity, which has tokens of its own.
  fileprivate var isOfActivity: Bool { platform == .ios && cardEvent != nil }
}
