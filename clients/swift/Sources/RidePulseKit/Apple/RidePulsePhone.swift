#if canImport(ActivityKit) && canImport(UIKit)
  import ActivityKit
  public import Foundation
  import UIKit
  public import UserNotifications

  /// The kit in an app: passes what iOS reports to `client`. Create one when the app starts, also in the
  /// background; iOS starts the app to pass it the token of a card.
  @available(iOSApplicationExtension, unavailable)
  @MainActor public final class RidePulsePhone {
    /// Reports to your backend.
    public let client: RidePulseClient
    let onEvent: @Sendable (KitEvent) -> Void
    let permission = ActivityAuthorizationInfo()
    var types: [CardType] = []
    var cards: [String: (ride: String, token: Data)] = [:]
    var watched: Set<String> = []
    private var deviceToken: Data?
    private var lastAlerts: Bool?
    /// Whether the installation has its ID, which iOS does not give before the phone's first unlock.
    private var isIdentified: Bool
    /// Whether the app has named the person: what iOS reports before is passed on then.
    private(set) var isSignedIn = false

    /// Creates it. Then call `watch` for each type of card.
    public init(
      _ configuration: KitConfiguration, transport: any CallTransport = URLSessionTransport()
    ) {
      var configuration = configuration
      configuration.installation =
        configuration.installation ?? UIDevice.current.identifierForVendor?.uuidString
      isIdentified = configuration.installation != nil
      client = RidePulseClient(configuration, transport: transport)
      onEvent = configuration.onEvent
      watchPermission()
      // What waits is sent also while nobody is signed in: a sign-out.
      Task { await client.hurry() }
    }

    /// Begins a person's session. Call it at each launch with a session, and after each sign-in.
    ///
    /// It asks for no permission; iOS gives the token without.
    public func signIn(_ owner: String) async {
      await identify()
      if let former = await client.owner, former != owner { await signOut() }
      await client.signIn(owner)
      isSignedIn = true
      await client.cardsPresent(Set(types.flatMap { $0.present() }))
      await reportAll()
      UIApplication.shared.registerForRemoteNotifications()
    }

    /// Ends the session and the cards, which show the ride of this person. Call it before your own session
    /// ends; without a network the sign-out is sent later.
    public func signOut() async {
      await client.signOut()
      (isSignedIn, cards) = (false, [:])
      for type in types { await type.end() }
      await client.flush(within: .seconds(5))
    }

    /// Asks for permission to notify, at a moment of your choice; returns the answer.
    @discardableResult public func askForPermission(
      _ options: UNAuthorizationOptions = [.alert, .sound, .badge]
    ) async -> Bool {
      do {
        let isAllowed = try await UNUserNotificationCenter.current()
          .requestAuthorization(options: options)
        await register()
        return isAllowed
      } catch {
        onEvent(.system("permission", "\(error)"))
        return false
      }
    }

    /// Call it in `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    public func registered(_ token: Data) async {
      deviceToken = token
      await register()
    }

    /// Call it in `application(_:didFailToRegisterForRemoteNotificationsWithError:)`.
    public func failedToRegister(_ error: any Error) { onEvent(.system("token", "\(error)")) }

    /// Call it when the app becomes active: sends what waits, a contact, and whether notifications are allowed.
    public func becameActive() async {
      await identify()
      await client.hurry()
      guard isSignedIn else { return }
      await client.contact()
      // The person may come back from Settings.
      if lastAlerts != nil, await Self.areAlertsAllowed() != lastAlerts { await register() }
    }

    /// Call it in `application(_:didReceiveRemoteNotification:)` after the app has read the ride again.
    public func receivedBackgroundPush() async {
      await identify()
      await client.hurry()
      guard isSignedIn else { return }
      await client.contact()
      await client.flush(within: .seconds(10))
    }

    /// Call it in `userNotificationCenter(_:willPresent:)`; without the service extension also in
    /// `userNotificationCenter(_:didReceive:)`.
    public nonisolated func seen(_ notification: UNNotification) async {
      guard let id = notification.request.content.userInfo["apns_id"] as? String else { return }
      await client.seen(id)
    }

    /// Reports each token as it is when its turn comes: while another is reported, iOS may pass a newer one.
    private func reportAll() async {
      for id in Array(cards.keys) { await report(card: id) }
      for type in types.map(\.name) { await report(type: type) }
      await register()
    }

    private func identify() async {
      guard !isIdentified, let id = UIDevice.current.identifierForVendor else { return }
      isIdentified = true
      await client.identify(id.uuidString)
    }

    private func register() async {
      guard isSignedIn, deviceToken != nil else { return }
      let alerts = await Self.areAlertsAllowed()
      // Meanwhile a newer token may have come, which must not be followed by the older one.
      guard isSignedIn, let token = deviceToken else { return }
      lastAlerts = alerts
      let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString")
      await client.phone(
        token: token, alerts: alerts, appVersion: version as? String)
    }

    private nonisolated static func areAlertsAllowed() async -> Bool {
      switch await UNUserNotificationCenter.current().notificationSettings().authorizationStatus {
      case .denied, .notDetermined: false
      default: true
      }
    }
  }

  extension KitConfiguration {
    /// Creates the configuration of an iOS app. `group` is the App Group that it shares with its service
    /// extension; without one the queue is in Application Support.
    public init(
      app: String, backend: String, group: String?, authorization: @escaping Authorization,
      onEvent: @escaping @Sendable (KitEvent) -> Void
    ) {
      self.init(
        app: app, backend: backend, folder: Self.folder(group: group), installation: nil,
        authorization: authorization, onEvent: onEvent)
    }

    static func folder(group: String?) -> URL {
      let files = FileManager.default
      let shared = group.flatMap {
        files.containerURL(forSecurityApplicationGroupIdentifier: $0)
      }
      let own = files.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      return (shared ?? own ?? files.temporaryDirectory).appendingPathComponent("RidePulse")
    }
  }
#endif
