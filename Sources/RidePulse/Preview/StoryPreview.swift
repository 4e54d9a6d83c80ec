import Base
import Foundation
import RideCore
import SystemSupport
import Timeline

/// `ridepulse preview --story`: an invented ride, and what its people would read on the way.
enum StoryPreview {
  /// How long a ride is followed after the last step, if the story states no length.
  private static let usualTail: Duration = .seconds(15 * 60)

  /// Options that concern real rides.
  private static let foreign = ["--rides", "--ride", "--limit", "--diff"]

  /// - Parameters:
  ///   - text: a list of states, or the path of a story file.
  ///   - from: when the story begins; nil if the option is not given.
  static func run(
    _ text: String, _ format: PreviewFormat, _ configuration: EngineConfiguration,
    from: Timestamp?, _ arguments: Arguments
  ) throws -> ExitStatus {
    if let other = foreign.first(where: arguments.has) {
      throw arguments.error(
        "\(other) next to --story, which invents its ride; expected one of them")
    }
    let minute = Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970) / 60 * 60)
    let scenario = try StoryArgument(text: text, from: from)
      .scenario(by: configuration.rules, at: minute, arguments)
    let length = try arguments.duration("--for") ?? scenario.length
    let last = scenario.steps.last?.at ?? scenario.start
    let end = length.map { scenario.start + $0 } ?? last + usualTail
    let story = Story(scenario, by: configuration, until: end)
    let images = try cardImages(format, arguments)
    let output = try PreviewOutput(path: arguments.value("--output"), readers: .usual)
    switch format {
    case .table: try output.write(StoryTable(story).text)
    case .json: try output.write(StoryJSON(story).text)
    case .html: try output.write(page(story, configuration, images))
    }
    try output.close()
    return .done
  }

  private static func cardImages(
    _ format: PreviewFormat, _ arguments: Arguments
  ) throws -> CardImages? {
    guard let directory = arguments.value("--card-images") else { return nil }
    guard format == .html else {
      throw arguments.error("--card-images without --format html, which alone shows pictures")
    }
    return try CardImages(directory: directory)
  }

  private static func page(
    _ story: Story, _ configuration: EngineConfiguration, _ images: CardImages?
  ) -> String {
    var screens = StoryVariants(story, by: configuration).screens
    if let images {
      let missing = images.missing(for: screens.cardStates)
      if !missing.isEmpty {
        Terminal.printError(
          Escape.line(
            "\(images.directory): no picture for \(missing.joined(separator: ", ")); "
              + "the page draws their fields"))
      }
      screens.images = images.used(by: screens.cardStates)
    }
    return StoryPage(screens: screens, plain: StoryRows(story).html).html
  }
}
