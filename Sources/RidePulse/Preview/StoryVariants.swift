import Base
import RideCore
import Timeline

/// Takes a story through each language, with and without a card, by day and at night, and with a hole in
/// the network at several times.
struct StoryVariants {
  /// How long the network is gone.
  private static let holeLength: Duration = .seconds(10 * 60)
  /// How long before a push that rings or lights the screen.
  private static let holeLead: Duration = .seconds(60)
  private static let holeLimit = 20

  private let scenario: Scenario
  private let configuration: EngineConfiguration
  private let end: Timestamp
  private var stories: [(variant: StoryScreens.Variant, story: Story)] = []
  private var holes: [Timestamp?] = [nil]

  init(
    _ story: Story, by configuration: EngineConfiguration
  ) {
    scenario = story.scenario
    self.configuration = configuration
    end = story.end
    for isNight in [false, true] {
      guard let base = isNight ? scenario.atNight() : scenario else { continue }
      for changes in [false, true] {
        guard let own = changes ? toggled(base) : base else { continue }
        let variant = StoryScreens.Variant(hasCards: own.hasCards, isNight: isNight)
        let isGiven = !isNight && !changes
        stories.append(
          (variant, isGiven ? story : Story(own, by: configuration, until: end)))
      }
    }
    holes += Self.holes(of: story).map { $0 }
  }

  /// Returns the scenario with cards if it has none, and the other way round; nil if no rule starts one.
  private func toggled(_ scenario: Scenario) -> Scenario? {
    if scenario.hasCards { return scenario.withoutCards() }
    let other = InventedRide(for: configuration.rules, at: scenario.start).withCards(scenario)
    return other.hasCards ? other : nil
  }

  /// Returns when holes begin: shortly before what the phones' owners should notice.
  private static func holes(of story: Story) -> [Timestamp] {
    let noticed = story.moments.filter { $0.rows.contains(where: \.interrupts) }
    var holes: [Timestamp] = []
    for moment in noticed {
      let hole = max(story.scenario.start, moment.at - holeLead)
      if let last = holes.last, hole - last < holeLead { continue }
      holes.append(hole)
    }
    guard holes.count > holeLimit else { return holes }
    return (0..<holeLimit).map { holes[$0 * (holes.count - 1) / (holeLimit - 1)] }
  }

  /// What the page shows.
  var screens: StoryScreens {
    let story = stories.first?.story
    var screens = StoryScreens(
      heading: StoryWords.heading(scenario), summary: story.map(StoryWords.alerts) ?? "",
      zone: scenario.zoneName, start: scenario.start, end: end, phones: columns)
    screens.lastEvent = scenario.steps.last?.at
    screens.nightZone = stories.first { $0.variant.isNight }?.story.scenario.zoneName
    let languages = story?.replayedLanguages ?? []
    for language in languages {
      for (variant, story) in stories {
        let frames = StoryFrames(story)
        for hole in holes {
          var own = variant
          own.language = language
          own.hole = hole
          screens.add(own, frames.steps(in: language, away: hole.map { $0..<$0 + Self.holeLength }))
        }
      }
    }
    screens.first = stories.first?.variant ?? screens.first
    screens.first.language = languages.contains("en") ? "en" : languages.first ?? ""
    return screens
  }

  private var columns: [StoryScreens.Phone] {
    let rows = scenario.view.phones
    return scenario.phones.map { phone in
      let row = rows.first { $0.id == phone.id }
      // Two phones of one app are told apart by their installations.
      let isOne = rows.count { $0.app == row?.app && $0.platform == phone.platform } == 1
      return StoryScreens.Phone(
        name: phone.name ?? (isOne ? nil : row?.installationID?.text),
        app: row?.app ?? App(rawValue: ""), platform: phone.platform, locale: row?.locale)
    }
  }
}

extension Story {
  /// The languages of phones that state none; one alone if all state theirs.
  fileprivate var replayedLanguages: [String] {
    let offered = languages.filter { feeds[$0] != nil }
    return offered.isEmpty ? feeds.keys.sorted() : offered
  }
}
