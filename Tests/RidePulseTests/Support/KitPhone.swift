import Foundation
import TestSupport

/// A phone with RidePulseKit, which `Tests/RidePulseTests/App/main.swift` drives by lines.
enum KitPhone {
  static let kit = Project.path("clients/swift")
  static let stand = Project.path("Tests/RidePulseTests/App")

  /// Compiles the kit with modules that have Apple's names, and a phone; returns the program's path.
  static func compile(in directory: String) throws -> String {
    func run(_ words: [String]) throws {
      let result = try Tool.run(
        "/usr/bin/env", ["swiftc", "-swift-version", "6", "-I", directory] + words, in: directory)
      if result.status != 0 { throw TestFailure("swiftc \(words): \(result.errors)") }
    }
    var modules = ["ActivityKit", "UIKit", "UserNotifications"].map {
      ($0, ["\(kit)/Stubs/\($0).swift"])
    }
    let names = FileManager.default.enumerator(atPath: "\(kit)/Sources/RidePulseKit")
    let sources = names?.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") } ?? []
    modules.append(("RidePulseKit", sources.sorted().map { "\(kit)/Sources/RidePulseKit/\($0)" }))
    for (module, files) in modules {
      try run(
        [
          "-parse-as-library", "-emit-module", "-emit-object", "-whole-module-optimization",
          "-module-name", module, "-emit-module-path", "\(directory)/\(module).swiftmodule",
          "-o", "\(directory)/\(module).o",
        ] + files)
    }
    try run(
      ["-module-name", "Phone", "-o", "\(directory)/phone"]
        + ["main", "AppOfThePage", "RideAttributes"].map { "\(stand)/\($0).swift" }
        + modules.map { "\(directory)/\($0.0).o" })
    return "\(directory)/phone"
  }
}
