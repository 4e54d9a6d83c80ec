import Foundation
import RideCore
import Timeline

extension Generate {
  /// Writes the pushes of a story into a folder, with the tests that decode them.
  static func writeFixtures(by rules: RuleSet, _ context: CommandContext) throws {
    let arguments = context.arguments
    if arguments.has("--access") {
      throw arguments.error("--access is for types: generate swift --access …")
    }
    guard let story = arguments.value("--story") else {
      throw arguments.error("--story is missing: the story whose pushes are written")
    }
    guard let folder = arguments.value("--output") else {
      throw arguments.error("--output is missing: the folder of the files")
    }
    let package = try kotlinPackage(arguments)
    let module = arguments.value("--module")
    if let module, !SwiftName.isModule(module) {
      throw arguments.error("--module \(module) is not the name of a module, such as Rides")
    }
    let chosen = try chosenRules(rules, arguments)
    var configuration = try APNsVariables.configuration(of: rules, context.environment)
    let unset = configuration.rules.apps.filter { configuration.bundleIDs[$0] == nil }
    configuration.fillBundleIDs()
    let scenario = try StoryArgument(text: story, from: arguments.time("--from"), hasCards: true)
      .scenario(by: configuration.rules, at: SampleTime.start, arguments)
    // All rules decide, as they do in the service; files are of those that are asked for.
    let app = arguments.value("--app")
    let fixtures = Fixtures(scenario, by: configuration) { entry in
      chosen.contains(entry.rule) && (app == nil || app == entry.app.rawValue)
    }
    var files = fixtures.files
    if files.isEmpty { throw CommandFailure("the ride of --story sends nothing") }
    if !fixtures.folders.isEmpty {
      let tests = FixtureTests(fixtures.folders)
      files["CardFixtureTests.swift"] = Array(tests.swift(module: module).utf8)
      files["CardFixtureTests.kt"] = Array(tests.kotlin(package: package).utf8)
    }
    try write(files, to: folder)
    notePlaceholders(unset, in: fixtures)
    noteOthers(than: files, in: folder)
  }

  private static func write(_ files: [String: [UInt8]], to folder: String) throws {
    for (name, body) in files.sorted(by: { $0.key < $1.key }) {
      let path = "\(folder)/\(name)"
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try write(Data(body), to: path)
    }
  }

  private static func notePlaceholders(_ apps: [App], in fixtures: Fixtures) {
    for app in apps.sorted(by: { $0.rawValue < $1.rawValue }) where fixtures.iosApps.contains(app) {
      Terminal.printError(
        "\(APNsVariables.bundleIDName(app)) is not set: .apns files have a placeholder, and simctl "
          + "push needs the bundle ID as an argument")
    }
  }

  /// Names what an earlier story left: the tests would decode it, too.
  private static func noteOthers(than files: [String: [UInt8]], in folder: String) {
    let kinds = ["ios", "android"] + FixtureFolder.allCases.map(\.rawValue)
    let others = kinds.flatMap { kind in
      ((try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/\(kind)")) ?? [])
        .map { "\(kind)/\($0)" }
    }.filter { ($0.hasSuffix(".json") || $0.hasSuffix(".apns")) && files[$0] == nil }.sorted()
    guard let first = others.first else { return }
    Terminal.printError(
      "\(folder) has \(others.count == 1 ? "1 file" : "\(others.count) files") of an earlier story, "
        + "such as \(first): delete what is not needed")
  }

  /// Returns the names of the rules that `--app` and `--rule` name.
  private static func chosenRules(_ rules: RuleSet, _ arguments: Arguments) throws -> Set<String> {
    let (app, name) = (arguments.value("--app"), arguments.value("--rule"))
    let chosen = rules.rules.filter { rule in
      (name == nil || rule.name == name)
        && (app == nil || rule.apps.contains { $0.rawValue == app })
    }
    if chosen.isEmpty {
      throw arguments.error("no rule is named by --app and --rule")
    }
    return Set(chosen.map(\.name))
  }
}
