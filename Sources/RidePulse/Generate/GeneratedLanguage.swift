import RideCore

extension Generate {
  /// The languages that apps are written in.
  enum Language: String, CaseIterable {
    case swift, kotlin

    /// Throws if an option is not one of the language.
    init(_ arguments: Arguments) throws(UsageError) {
      self = arguments.operands.first.flatMap(Self.init(rawValue:)) ?? .swift
      for option in ["--story", "--from", "--module"] where arguments.has(option) {
        throw arguments.error("\(option) is for fixtures: generate fixtures \(option) …")
      }
      if self == .swift, arguments.has("--package") {
        throw arguments.error("--package is for Kotlin: generate kotlin --package …")
      }
    }

    /// Returns the source of a file with these types.
    func source(
      _ contracts: [CardContract], of rules: RuleSet, _ arguments: Arguments
    ) throws(UsageError) -> String {
      let access = arguments.choice("--access", of: GeneratedAccess.self)
      switch self {
      case .swift: return SwiftSource(rules, access: access ?? .internal).file(contracts)
      case .kotlin:
        return KotlinSource(
          rules, package: try kotlinPackage(arguments), access: access ?? .public
        ).file(contracts)
      }
    }
  }

  /// Returns the package that `--package` names, or that of the kit.
  static func kotlinPackage(_ arguments: Arguments) throws(UsageError) -> String {
    let package = arguments.value("--package") ?? KotlinSource.standardPackage
    guard KotlinName.isPackage(package) else {
      throw arguments.error(
        "--package \(package) is not the name of a package, such as com.example.rides")
    }
    return package
  }
}
