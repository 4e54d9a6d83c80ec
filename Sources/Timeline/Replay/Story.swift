package import Base
package import RideCore

/// A scenario as the people in it experience it: each push in each language, and each that was not
/// sent with its reason.
package struct Story: Sendable {
  /// What happened at one second.
  package struct Moment: Sendable {
    package var at: Timestamp
    package var steps: [ScenarioStep] = []
    package var rows: [Row] = []
  }

  /// What one rule sent, or did not send, at one time to the phones of an app.
  package struct Row: Sendable {
    /// The ledger entry of the first phone.
    package var entry: LedgerEntry
    /// The push as it was sent to the first phone; nil if nothing was sent.
    package var push: PlannedPush?
    /// When a push that waits is decided again.
    package var due: Timestamp?
    /// The most phones that it was for in one language.
    package var phones = 0
    /// What they show, by language, in the order of `Story.languages`.
    package var texts: [Text] = []
    /// How often the same content was sent again afterwards, and when last.
    package var repeats = 0
    package var repeatedAt: Timestamp?

    /// Whether APNs accepted it.
    package var isSent: Bool { entry.status == .accepted && entry.kind.isSent }

    /// Whether it lights the screen or sounds; a passive alert only joins the list.
    package var interrupts: Bool {
      isSent && texts.contains { $0.shown.isAlert && !$0.shown.isPassive }
    }
  }

  /// What a push shows to people of some languages.
  package struct Text: Hashable, Sendable {
    package var languages: [String]
    package var shown: ReadablePush
  }

  package let scenario: Scenario
  /// The end of the time that was followed.
  package let end: Timestamp
  /// The languages of the texts, in the order of the rule files.
  package let languages: [String]
  /// Those that decided.
  package let rules: RuleSet
  /// What waited and what fired nothing, in the first language: the others decide the same.
  package private(set) var trace = StoryTrace()
  package private(set) var moments: [Moment] = []
  /// What left for the phones, by the language of those that state none.
  package private(set) var feeds: [String: ScreenFeed] = [:]

  /// Replays a scenario, once for each language if it has phones without a locale.
  package init(_ scenario: Scenario, by configuration: EngineConfiguration, until end: Timestamp) {
    self.scenario = scenario
    self.end = end
    rules = configuration.rules
    let open = scenario.view.phones.contains { $0.locale == nil }
    let own = scenario.view.phones.compactMap(\.locale)
    let offered = open ? configuration.rules.languages : []
    languages = offered + Set(own).subtracting(offered).sorted()
    var book = StoryBook(scenario.steps)
    for language in offered.isEmpty ? [own.first ?? ""] : offered {
      let run = book.add(StoryRun(scenario, language, configuration, until: end))
      if feeds.isEmpty { trace = run.trace }
      feeds[language] = run.feed
    }
    moments = book.moments(ordered: languages)
  }
}

/// The replay of a scenario with one language for all phones that state none.
private struct StoryRun: Sequence, IteratorProtocol {
  /// What the replay settled about one phone, card or owner.
  struct Entry {
    var at: Timestamp
    var entry: LedgerEntry
    var push: PlannedPush?
    var due: Timestamp?
    var language: String
  }

  private var replay: Replay
  private let language: String
  private let end: Timestamp

  init(
    _ scenario: Scenario, _ language: String, _ configuration: EngineConfiguration,
    until end: Timestamp
  ) {
    var spoken = scenario
    for index in spoken.view.phones.indices
    where spoken.view.phones[index].locale == nil && !language.isEmpty {
      spoken.view.phones[index].locale = language
    }
    self.language = language
    self.end = end
    replay = spoken.replay(by: configuration)
  }

  /// Returns the next decision, and what it settled; nil at the end.
  mutating func next() -> (pass: Pass, entries: [Entry])? {
    guard let step = replay.next(before: end) else { return nil }
    let pushes = Dictionary(
      step.decision.pushes.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
    let dues = Dictionary(
      step.settlement.memo.waiting.map { ($0.entry.id, $0.due) },
      uniquingKeysWith: { first, _ in first })
    let entries = step.settlement.entries.map { entry in
      Entry(
        at: step.now, entry: entry, push: pushes[entry.id],
        due: entry.status == .pending ? dues[entry.id] : nil,
        language: step.decision.view.locale(of: entry) ?? language)
    }
    return (step, entries)
  }
}

/// Collects the entries of several runs into moments.
private struct StoryBook {
  /// What makes two entries one row.
  private struct Key: Hashable {
    var second: Int64
    var rule: String
    var app: App
    var event: EventKey
    var name: String
    var type: PushType
    var cardEvent: CardEvent?
    var status: LedgerEntry.Status
    var reason: LedgerReason?
  }

  private var moments: [Int64: Story.Moment] = [:]
  /// The index of each row within its moment.
  private var rowIndices: [Key: Int] = [:]

  init(_ steps: [ScenarioStep]) {
    for step in steps {
      moments[step.at.epochSeconds, default: Story.Moment(at: step.at)].steps.append(step)
    }
  }

  /// Adds what a replay settled; returns what left for the phones, and what did not.
  mutating func add(_ run: StoryRun) -> (feed: ScreenFeed, trace: StoryTrace) {
    var counts: [Key: Int] = [:]
    var feed = ScreenFeed()
    var trace = StoryTrace()
    for (pass, entries) in run {
      feed.add(pass)
      trace.add(pass)
      for entry in entries { add(entry, &counts) }
    }
    return (feed, trace)
  }

  private mutating func add(_ item: StoryRun.Entry, _ counts: inout [Key: Int]) {
    let entry = item.entry
    let second = item.at.epochSeconds
    let key = Key(
      second: second, rule: entry.rule, app: entry.app, event: entry.event.key,
      name: entry.event.name, type: entry.pushType, cardEvent: entry.cardEvent,
      status: entry.status, reason: entry.reason)
    var moment = moments[second] ?? Story.Moment(at: item.at)
    let index = rowIndices[key] ?? moment.rows.count
    if index == moment.rows.count {
      rowIndices[key] = index
      moment.rows.append(Story.Row(entry: entry, push: item.push, due: item.due))
    }
    counts[key, default: 0] += 1
    moment.rows[index].phones = max(moment.rows[index].phones, counts[key] ?? 0)
    if let push = item.push {
      moment.rows[index].add(ReadablePush(push), in: item.language)
    }
    moments[second] = moment
  }

  /// Returns the moments in the order of time, without those in which nothing happened.
  func moments(ordered languages: [String]) -> [Story.Moment] {
    let order = Dictionary(
      languages.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    func rank(_ language: String?) -> Int { language.flatMap { order[$0] } ?? .max }
    var sorted = moments.values.sorted { $0.at < $1.at }
    for index in sorted.indices {
      for row in sorted[index].rows.indices {
        sorted[index].rows[row].texts.sort {
          $0.order(by: rank) < $1.order(by: rank)
        }
      }
    }
    Self.fold(&sorted)
    return sorted.filter { !$0.rows.isEmpty || !$0.steps.isEmpty }
  }

  /// Removes the refreshes of cards, which show nothing new, and counts them in the row before.
  private static func fold(_ moments: inout [Story.Moment]) {
    var last: [String: (moment: Int, row: Int)] = [:]
    for index in moments.indices {
      var kept: [Story.Row] = []
      for row in moments[index].rows {
        let name = "\(row.entry.rule) \(row.entry.app)"
        if row.entry.event.name == RideEvent.refresh(at: moments[index].at).name, row.isSent,
          let shown = last[name], moments[shown.moment].rows[shown.row].shows(row)
        {
          moments[shown.moment].rows[shown.row].repeats += 1
          moments[shown.moment].rows[shown.row].repeatedAt = moments[index].at
          continue
        }
        if row.entry.cardEvent != nil, row.isSent { last[name] = (index, kept.count) }
        kept.append(row)
      }
      moments[index].rows = kept
    }
  }
}

extension Story.Text {
  /// By language; what iPhones show comes first.
  fileprivate func order(by rank: (String?) -> Int) -> (Int, Int) {
    (rank(languages.first), shown.android == nil ? 0 : 1)
  }
}

extension Story.Row {
  /// Adds what a phone shows in a language; equal texts share one entry.
  fileprivate mutating func add(_ shown: ReadablePush, in language: String) {
    if let index = texts.firstIndex(where: { $0.shown == shown }) {
      if !texts[index].languages.contains(language) { texts[index].languages.append(language) }
    } else {
      texts.append(Story.Text(languages: [language], shown: shown))
    }
  }

  /// Whether the card shows the same in all languages.
  package var hasOneContent: Bool { Set(texts.map(\.shown.fields)).count == 1 }

  /// Returns whether another row shows the same fields of the card, and has no alert.
  fileprivate func shows(_ other: Story.Row) -> Bool {
    Set(texts.map(\.shown.fields)) == Set(other.texts.map(\.shown.fields))
      && !other.texts.contains { $0.shown.isAlert }
  }
}
