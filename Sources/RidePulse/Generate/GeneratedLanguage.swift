import RideCore

extension Generate {
  /// Throws if an option is given that only Kotlin has.
  static func refuseKotlinOptions(_ arguments: Arguments) throws(UsageError) {
    for option in ["--package", "--access"] where arguments.has(option) {
      throw arguments.error("\(option) is for Kotlin: generate kotlin \(option) …")
    }
  }

  /// The languages that apps are written in.
  enum Language: String, CaseIterable {
    case swift, kotlin

    /// Throws if an option is not one of the language.
    init(_ arguments: Arguments) throws(UsageError) {
      self = arguments.operands.first.flatMap(Self.init(rawValue:)) ?? .swift
      if arguments.has("--story") {
        throw arguments.error("--story is for fixtures: generate fixtures --story …")
      }
      if self == .swift { try refuseKotlinOptions(arguments) }
    }

    /// Returns the source of a file with these types.
    func source(
      _ contracts: [CardContract], of rules: RuleSet, _ arguments: Arguments
    ) throws(UsageError) -> String {
      guard self == .kotlin else { return SwiftSource(rules).file(contracts) }
      let package = arguments.value("--package") ?? KotlinSource.standardPackage
      guard KotlinName.isPackage(package) else {
        throw arguments.error(
          "--package \(package) is not the name of a package, such as com.example.rides")
      }
      return KotlinSource(
        rules, package: package, access: arguments.choice("--access") ?? .public
      ).file(contracts)
    }
  }
}
