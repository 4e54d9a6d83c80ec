/// One of the service's apps, by the name that rules, phones and variables use: `customer`.
public struct App: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The name, as it stands in `ridepulse.devices.app` and after `app:` in a rule.
  public let rawValue: String

  /// An app of this name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The app whose phones belong to a ride's `customer_id`.
  public static let customer = App(rawValue: "customer")

  /// The app whose phones belong to a ride's `driver_id`.
  public static let driver = App(rawValue: "driver")

  /// The name.
  public var description: String { rawValue }
}
