import PushClient
import RideCore
import SystemSupport

/// What the variables of APNs and those of FCM have in common.
enum ServiceVariables {
  /// Returns the variables `<prefix><APP><suffix>` that are set, by app.
  ///
  /// - Parameter isApp: Whether the part between them, which is not empty, names an app.
  static func ofApps(
    _ environment: [String: String], _ prefix: String, _ suffix: String,
    where isApp: (Substring) -> Bool = { _ in true }
  ) -> [App: (variable: String, value: String)] {
    var variables: [App: (variable: String, value: String)] = [:]
    for (name, value) in environment where !value.isEmpty {
      guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { continue }
      let app = name.dropFirst(prefix.count).dropLast(suffix.count)
      if app.isEmpty || !isApp(app) { continue }
      variables[App(rawValue: app.lowercased())] = (name, value)
    }
    return variables
  }

  /// Returns values by the apps' own names: a variable writes the `-` of `food-courier` as `_`.
  static func spelled<Value>(_ values: [App: Value], as apps: [App]) -> [App: Value] {
    var values = values
    for app in apps where values[app] == nil {
      let plain = App(rawValue: app.rawValue.replacing("-", with: "_"))
      guard let value = values[plain] else { continue }
      values[app] = value
      if !apps.contains(plain) { values[plain] = nil }
    }
    return values
  }

  /// Returns the endpoint that a variable names; nil if it is not set.
  static func endpoint(
    _ environment: [String: String], _ name: String
  ) throws(CommandFailure) -> APNsEndpoint? {
    guard let url = environment.nonEmpty(name) else { return nil }
    do throws(APNsEndpointError) { return try APNsEndpoint(url) } catch {
      throw CommandFailure("\(name): \(error)")
    }
  }

  /// Returns the path of the file of authorities that a variable names, which can be read; nil if it is
  /// not set.
  static func caFile(
    _ environment: [String: String], _ name: String
  ) throws(CommandFailure) -> String? {
    guard let path = environment.nonEmpty(name) else { return nil }
    do throws(RegularFile.Failure) {
      _ = try RegularFile.read(path, limit: RegularFile.pemLimit)
    } catch {
      throw CommandFailure("\(name): can't read \(path): \(error)")
    }
    return path
  }
}

extension [String: String] {
  /// Returns the value of a variable; nil if it is not set, or empty.
  func nonEmpty(_ name: String) -> String? {
    self[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
