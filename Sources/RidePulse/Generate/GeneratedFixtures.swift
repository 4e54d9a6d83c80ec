import Foundation
import RideCore
import Timeline

extension Generate {
  /// Writes the messages of an invented ride into a folder.
  static func writeFixtures(by rules: RuleSet, _ context: CommandContext) throws {
    let arguments = context.arguments
    try refuseKotlinOptions(arguments)
    guard let story = arguments.value("--story") else {
      throw arguments.error("--story is missing: the states of the ride whose messages are written")
    }
    guard let folder = arguments.value("--output") else {
      throw arguments.error("--output is missing: the folder of the messages")
    }
    var configuration = try APNsVariables.configuration(
      of: try chosenRules(rules, arguments), context.environment)
    configuration.fillBundleIDs()
    let files: [String: [UInt8]]
    do throws(InventedRide.Problem) {
      files = try Fixtures(story, by: configuration).files
    } catch {
      throw arguments.error("--story: \(error)")
    }
    if files.isEmpty { throw CommandFailure("the ride of --story sends nothing") }
    for (name, body) in files.sorted(by: { $0.key < $1.key }) {
      let path = "\(folder)/\(name)"
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try write(Data(body), to: path)
    }
  }

  /// Returns the rules that `--app` and `--rule` name.
  private static func chosenRules(_ rules: RuleSet, _ arguments: Arguments) throws -> RuleSet {
    let (app, name) = (arguments.value("--app"), arguments.value("--rule"))
    let chosen = rules.rules.filter { rule in
      (name == nil || rule.name == name)
        && (app == nil || rule.apps.contains { $0.rawValue == app })
    }
    if chosen.isEmpty {
      throw arguments.error("no rule is named by --app and --rule")
    }
    return app == nil && name == nil ? rules : rules.keeping(chosen)
  }
}
