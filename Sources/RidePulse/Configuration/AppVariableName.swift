import RideCore

extension App {
  /// The app's name in environment variables.
  var variableName: String { rawValue.uppercased().replacing("-", with: "_") }
}
