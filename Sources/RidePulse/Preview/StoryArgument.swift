import Base
import RideCore
import RuleFiles
import Timeline

/// The story that `--story` names: a list of states, or the path of a story file.
struct StoryArgument {
  let text: String
  /// When the story begins; nil if the option is not given.
  let from: Timestamp?
  /// Whether phones that the story leaves open can be started a card by push.
  var hasCards = false

  /// - Parameter start: when a story begins that states no time.
  func scenario(
    by rules: RuleSet, at start: Timestamp, _ arguments: Arguments
  ) throws -> Scenario {
    let start = from ?? start
    guard isPath else {
      do throws(InventedRide.Problem) {
        return try InventedRide(for: rules, at: start).scenario(of: text)
      } catch {
        throw arguments.error("--story: \(error)")
      }
    }
    switch ScenarioFile.read(text, for: rules, at: start) {
    case .failure(let problems): throw CommandFailure(problems.description)
    case .success(let scenario):
      if from != nil, scenario.start != start {
        throw arguments.error(
          "--from next to a story that states its start in given.at; expected one of them")
      }
      let invented = InventedRide(for: rules, at: scenario.start)
      return invented.filled(invented.completed(scenario, withCards: hasCards))
    }
  }

  /// Whether the value is the path of a file: no state's name has a slash or ends so.
  private var isPath: Bool {
    text.contains("/") || text.hasSuffix(".yaml") || text.hasSuffix(".yml")
  }
}
