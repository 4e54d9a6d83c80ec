import Base

/// One of the service's apps, by the name that rules, phones and variables use, such as `customer`.
package struct App: StoredAsRaw, Hashable, Sendable, CustomStringConvertible {
  /// The name, as in `ridepulse.devices.app` and after `app:` in a rule.
  package let rawValue: String

  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The app whose phones belong to a ride's `customer_id`.
  package static let customer = App(rawValue: "customer")

  /// The app whose phones belong to a ride's `driver_id`.
  package static let driver = App(rawValue: "driver")

  /// Compares the bytes, because a row may hold any text.
  package static func == (left: App, right: App) -> Bool {
    left.rawValue.hasBytes(of: right.rawValue)
  }

  package func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }

  package var description: String { rawValue }

  /// The app's name in environment variables: `FOOD_COURIER` for `food-courier`.
  package var variableName: String { rawValue.uppercased().replacing("-", with: "_") }
}
