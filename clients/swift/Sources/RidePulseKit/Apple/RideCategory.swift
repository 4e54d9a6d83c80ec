#if canImport(UserNotifications) && canImport(UIKit)
  public import UserNotifications

  /// The buttons of alerts with a `category`.
  public struct RideCategory: Sendable {
    /// One button.
    public struct Action: Sendable {
      /// What `userNotificationCenter(_:didReceive:)` receives.
      public var identifier: String
      /// The button's text, in the person's language.
      public var title: String
      /// `foreground` opens the app, `destructive` is red, `authenticationRequired` asks to unlock the phone.
      public var options: UNNotificationActionOptions

      /// Creates a button.
      public init(
        _ identifier: String, title: String, options: UNNotificationActionOptions = []
      ) {
        (self.identifier, self.title, self.options) = (identifier, title, options)
      }
    }

    /// `category` in the rules.
    public var identifier: String
    /// The buttons, in order.
    public var actions: [Action]

    /// Creates a category.
    public init(_ identifier: String, _ actions: [Action]) {
      (self.identifier, self.actions) = (identifier, actions)
    }

    fileprivate var category: UNNotificationCategory {
      UNNotificationCategory(
        identifier: identifier,
        actions: actions.map {
          UNNotificationAction(identifier: $0.identifier, title: $0.title, options: $0.options)
        }, intentIdentifiers: [], options: [])
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension RidePulsePhone {
    /// Registers the buttons of alerts, at launch. Categories of other parts of the app stay, which
    /// `setNotificationCategories` would remove; one with the same identifier is replaced.
    public nonisolated func register(_ categories: [RideCategory]) {
      let center = UNUserNotificationCenter.current()
      center.getNotificationCategories { known in
        let names = Set(categories.map(\.identifier))
        let others = known.filter { !names.contains($0.identifier) }
        UNUserNotificationCenter.current()
          .setNotificationCategories(others.union(categories.map(\.category)))
      }
    }
  }
#endif
