// What the code in docs/app.md uses of the app itself.
import ActivityKit

extension RideAttributes: ActivityAttributes {}

enum Keychain {
  static func token(of person: String) -> String? { nil }
}

enum Session {
  static var person: String? { nil }
}

enum Log {
  static func add(_ line: String) {}
}

enum Rides {
  static func reload() async {}
}
