import Base
import RideCore
import Timeline

/// The steps of one story: its moments, and what changes a screen though nothing is sent.
struct StoryFrames {
  private let story: Story
  private let apps: [App]
  private let rows: [(moment: Story.Moment, rows: [JSONValue])]

  init(_ story: Story) {
    self.story = story
    let phones = story.scenario.view.phones
    apps = phones.reduce(into: []) { apps, phone in
      if !apps.contains(phone.app) { apps.append(phone.app) }
    }
    let words = StoryRows(story)
    rows = story.moments.map { moment in (moment, moment.rows.map { words.json($0, moment.at) }) }
  }

  func steps(in language: String, away hole: Range<Timestamp>?) -> [StoryScreens.Step] {
    let feed = story.feeds[language] ?? ScreenFeed()
    let phones = story.scenario.phones.map { phone in hole.map(phone.away) ?? phone }
    var steps: [Int64: StoryScreens.Step] = [:]
    func step(at instant: Timestamp) -> StoryScreens.Step {
      let at = Timestamp(epochSeconds: instant.epochSeconds)
      return steps[at.epochSeconds]
        ?? StoryScreens.Step(at: at, title: nil, state: nil, rows: [], screens: [])
    }
    for (moment, rows) in rows {
      var own = step(at: moment.at)
      own.title = StoryWords.title(moment)
      own.state = moment.state
      own.rows = rows
      steps[moment.at.epochSeconds] = own
    }
    let turns = Set(phones.flatMap { feed.turns(of: $0, before: story.end) })
    for turn in turns.sorted(by: { ($0.at, $0.kind.rawValue) < ($1.at, $1.kind.rawValue) }) {
      var own = step(at: turn.at)
      own.title = [own.title, turn.kind.rawValue].compactMap { $0 }.joined(separator: ", ")
      steps[turn.at.epochSeconds] = own
    }
    var sorted = steps.values.sorted { $0.at < $1.at }
    // What follows a change at once is microseconds later.
    let instants = sorted.map { $0.at + .microseconds(999_999) }
    for phone in phones {
      for (index, screen) in feed.screens(of: phone, at: instants).enumerated() {
        sorted[index].screens.append(screen)
      }
    }
    return explained(folded(sorted))
  }

  /// Leaves out the steps that send nothing, keep nothing back and change no screen.
  private func folded(_ steps: [StoryScreens.Step]) -> [StoryScreens.Step] {
    steps.reduce(into: []) { kept, step in
      guard let last = kept.last, step.rows.isEmpty else { return kept.append(step) }
      let isSame = zip(step.screens, last.screens).allSatisfy { $0.looks(like: $1) }
      if !isSame { kept.append(step) }
    }
  }

  /// Adds what follows each step until the next one, or the end.
  private func explained(_ steps: [StoryScreens.Step]) -> [StoryScreens.Step] {
    let words = StoryQuiet(story)
    var steps = steps
    for index in steps.indices {
      let end = index + 1 < steps.count ? steps[index + 1].at : story.end
      let quiet = story.quietTime(after: steps[index].at, before: end, for: apps)
      let isShort = end - steps[index].at < Self.shortTime
      if isShort, quiet.causes.count < 2, quiet.changes.isEmpty { continue }
      steps[index].quiet = StoryScreens.Quiet(
        until: end, lines: words.lines(of: quiet),
        states: quiet.causes.filter { $0.isState && $0.at > steps[index].at })
    }
    return steps
  }

  /// A shorter time in which nothing happens needs no words.
  private static let shortTime: Duration = .seconds(60)
}

extension Story.Moment {
  /// The ride's state that it brings; nil if it stays.
  fileprivate var state: String? {
    steps.flatMap(\.changes).reduce(nil) { state, change in
      if case .ride(let update) = change { (update.state ?? nil) ?? state } else { state }
    }
  }
}
