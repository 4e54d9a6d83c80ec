import TestSupport
import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What the phones of a real ride show, by its ledger and its recorded passes.
@Suite struct LedgerScreensTests {
  private static let phone = RidePhones.Phone(
    id: 7, app: .customer, owner: "c", tokenSuffix: "c1c1c1")
  private static let activity = RidePhones.Activity(
    app: .customer, owner: "c", tokenSuffix: "aaaaaa", registeredAt: Sample.now)

  private func alert(
    _ id: String = "a", token: String? = "c1c1c1", app: App = .customer, after seconds: Int64 = 0,
    collapse: String? = nil
  ) -> AcceptedPush {
    AcceptedPush(
      id: id, rule: "arrived", app: app, tokenSuffix: token, event: "driver_arrived",
      eventAt: Sample.now - .seconds(1), at: Sample.now + .seconds(seconds), collapseID: collapse)
  }

  private func card(
    _ event: CardEvent, after seconds: Int64, token: String? = "aaaaaa", owner: OwnerID? = "c"
  ) -> AcceptedPush {
    AcceptedPush(
      id: "card \(seconds)", rule: "card", app: .customer, owner: owner, type: .liveactivity,
      cardEvent: event, tokenSuffix: token, event: "driver_arrived", eventAt: Sample.now,
      at: Sample.now + .seconds(seconds))
  }

  private func screens(
    _ pushes: [AcceptedPush], phones: [RidePhones.Phone] = [phone],
    activities: [RidePhones.Activity] = [], recorded: RecordedRide? = nil,
    until hours: Int64 = 1
  ) -> LedgerScreens {
    LedgerScreens(
      LedgerScreens.Source(
        ride: "r1", phones: RidePhones(phones, activities: activities), pushes: pushes,
        recorded: recorded),
      until: Sample.now + .seconds(hours * 3600))
  }

  @Test func `A push that was not recorded is shown by its rule alone, and counts as unknown`()
    throws
  {
    let screens = screens([alert("a", collapse: "x"), alert("b", after: 60, collapse: "x")])
    #expect(screens.unknown == 2 && screens.unknownOfOtherRules == 0)
    let steps = try #require(screens.phones.first).steps
    #expect(steps.map(\.now) == [Sample.now, Sample.now + .seconds(60)])
    let last = try #require(steps.last)
    #expect(last.notifications.map(\.isKnown) == [false])
    #expect(last.unknownCount == 2 && Attention.allCases.allSatisfy { last.count($0) == 0 })
    let json = ScreenJSON(last, app: "customer", name: nil).value
    #expect(json.value(at: ["counts", "unknown"]) == .integer(2))
    guard case .array(let threads)? = json["threads"], case .array(let thread)? = threads.first
    else { throw TestFailure(json.text) }
    #expect(
      thread == [
        .object([
          "known": .bool(false), "rule": .string("arrived"),
          "at": .integer(Sample.now.epochSeconds + 60),
        ])
      ])
  }

  @Test func `A push that other rules decided is not decided again`() throws {
    var push = alert()
    push.isOfTheseRules = false
    let screens = screens([push], recorded: try recorded())
    #expect(screens.unknownOfOtherRules == 1 && screens.unknown == 0)
    #expect(screens.phones.first?.steps.last?.notifications.map(\.isKnown) == [false])
  }

  /// Returns a ride that was recorded with one push to the customer.
  private func recorded() throws -> RecordedRide {
    let book = Sample.book([Sample.rule()])
    let decision = decide(Sample.view(), by: book, now: Sample.now)
    let settlement = decision.settled([.accepted], now: Sample.now + .seconds(1)) { 0.5 }
    let times = PassTimes(
      decidedAt: Sample.now, sample: RecordSample(text: "100%"),
      pushes: decision.pushes.count, at: .zero)
    let pass = try #require(
      RecordedPass(decision, [.accepted], settlement, times, now: Sample.now + .seconds(1)))
    return RecordedRide(
      "r1", [RecordedRide.StoredPass(fence: 1, json: pass.json)], by: book)
  }

  @Test func `A recorded push is shown with the texts that were sent`() throws {
    let screens = screens([alert()], recorded: try recorded())
    #expect(screens.unknown == 0)
    let shown = try #require(screens.phones.first?.steps.last?.notifications.first)
    #expect(shown.isKnown && shown.title == "Your driver is here" && shown.body == "B-RP 1")
  }

  @Test func `One recorded push is the content of one row of its own phone and event`() throws {
    var ride = try recorded()
    var other = alert(token: "d1d1d1")
    #expect(ride.take(other) == nil)
    other = alert()
    other.event = "eta_changed"
    #expect(ride.take(other) == nil)
    other = alert()
    other.eventAt = Sample.now + .seconds(60)
    #expect(ride.take(other) == nil)
    #expect(ride.take(alert())?.entry.rule == "arrived")
    #expect(ride.take(alert()) == nil)
  }

  @Test func `An old sender's text is compared with what was sent, once`() throws {
    var ride = try recorded()
    #expect(ride.outcome(of: "x", []) == .unknown(.notReproduced))
    #expect(
      ride.outcome(of: "Ana is here", [alert()]) == .differs(from: "Your driver is here: B-RP 1"))
    #expect(ride.outcome(of: "B-RP 1", [alert()]) == .unknown(.notReproduced))
    var again = try recorded()
    #expect(again.outcome(of: "Your driver is here – B-RP 1", [alert()]) == .same)
  }

  @Test func `A card starts with its registration, is unknown, ends, and leaves`() throws {
    let screens = screens(
      [card(.update, after: 10), card(.end, after: 20)], activities: [Self.activity], until: 9)
    let steps = try #require(screens.phones.first).steps
    #expect(steps.map { $0.cards.count } == [1, 1, 1, 0])
    #expect(steps.dropFirst().dropLast().allSatisfy { $0.cards.first?.isKnown == false })
    #expect(steps.map { $0.cards.first?.isEnded } == [false, false, true, nil])
  }

  @Test func `A card that a push started is shown once, and leaves when its person removes it`()
    throws
  {
    var activity = Self.activity
    activity.registeredAt = Sample.now + .seconds(5)
    activity.dismissedAt = Sample.now + .seconds(30)
    let screens = screens(
      [card(.start, after: 1, token: "eeeeee"), card(.update, after: 10)], activities: [activity])
    let steps = try #require(screens.phones.first).steps
    #expect(steps.allSatisfy { $0.cards.count <= 1 })
    #expect(steps.last?.cards.isEmpty == true)
    #expect(steps.last?.now == Sample.now + .seconds(30))
  }

  @Test func `A card that was registered again starts with the first push to it, by any token`()
    throws
  {
    var activity = Self.activity
    activity.registeredAt = Sample.now + .seconds(600)
    let screens = screens(
      [card(.update, after: 5, token: "0ldd0e"), card(.update, after: 10), card(.end, after: 20)],
      activities: [activity])
    let steps = try #require(screens.phones.first).steps
    #expect(steps.first?.now == Sample.now + .seconds(5))
    #expect(steps.first?.cards.first?.isEnded == false && steps.first?.outcomes.count == 1)
    #expect(steps.flatMap(\.outcomes).compactMap(\.fate.loss) == [])
  }

  @Test func `A card that the app started after an earlier one of a push is started, too`() throws {
    var (first, second) = (Self.activity, Self.activity)
    first.tokenSuffix = "f1f1f1"
    first.registeredAt = Sample.now + .seconds(2)
    second.registeredAt = Sample.now + .seconds(100)
    let screens = screens(
      [
        card(.start, after: 1, token: "eeeeee"), card(.end, after: 50, token: "f1f1f1"),
        card(.update, after: 110),
      ], activities: [first, second])
    let steps = try #require(screens.phones.first).steps
    #expect(steps.flatMap(\.outcomes).compactMap(\.fate.loss) == [])
    #expect(steps.last?.cards.last?.isEnded == false)
  }

  @Test func `A card without a token of its own is on its person's phone, or on one of its own`()
    throws
  {
    var other = Self.phone
    other.id = 8
    other.owner = "d"
    other.tokenSuffix = "d1d1d1"
    let phones = RidePhones([Self.phone, other])
    #expect(phones.receivers(of: card(.start, after: 1, token: "eeeeee", owner: "d")) == [8])
    #expect(phones.receivers(of: card(.update, after: 1, token: "0ldd0e", owner: "d")) == [8])
    #expect(phones.receivers(of: card(.start, after: 1, token: "eeeeee", owner: "x")) == [])
    #expect(phones.receivers(of: card(.start, after: 1, token: "eeeeee", owner: nil)) == [])

    let starts = [
      card(.start, after: 1, token: "eeeeee", owner: "x"),
      card(.start, after: 2, token: "ffffff", owner: nil),
    ]
    let screens = screens(starts, phones: [Self.phone, other])
    let cards = Dictionary(
      screens.phones.map { ($0.identity.owner?.text ?? "", $0.steps.last?.cards.count ?? 0) }
    ) { $0 + $1 }
    #expect(cards == ["c": 0, "d": 0, "x": 1, "": 1])
  }

  @Test func `The content of a card of nobody known is unknown`() {
    let phones = RidePhones([Self.phone], activities: [Self.activity])
    #expect(!phones.isAssigned(card(.start, after: 1, token: "eeeeee", owner: nil)))
    #expect(phones.isAssigned(card(.start, after: 1, token: "eeeeee")))
    #expect(phones.isAssigned(card(.update, after: 1, owner: nil)))
    #expect(phones.isAssigned(card(.update, after: 1, token: nil, owner: nil)))
    #expect(phones.isAssigned(alert()))
  }

  @Test func `A card of a person whose phone only an alert names is on that phone`() throws {
    var other = alert("b", token: "999999", after: 5)
    other.owner = "x"
    let screens = screens(
      [card(.start, after: 1, token: "eeeeee", owner: "x"), other], phones: [Self.phone])
    let phone = try #require(screens.phones.last)
    #expect(screens.phones.count == 2 && phone.identity.tokenSuffix == "999999")
    #expect(phone.steps.last?.cards.count == 1 && phone.steps.last?.notifications.count == 1)
  }

  @Test func `A phone that only the ledger knows has a screen of its own`() {
    let screens = screens([
      alert(), alert("b", token: "999999"), alert("c", token: "d1d1d1", app: .driver),
    ])
    #expect(screens.phones.map(\.identity.tokenSuffix).sorted() == ["999999", "c1c1c1", "d1d1d1"])
    #expect(screens.phones.allSatisfy { $0.steps.count == 1 })
  }

  @Test func `A card is on the phone with its installation, else on its owner's first iPhone`() {
    var second = Self.phone
    second.id = 8
    second.installation = "i2"
    second.tokenSuffix = "222222"
    var phones = RidePhones([Self.phone, second], activities: [Self.activity])
    #expect(phones.receivers(of: card(.update, after: 1)) == [7])
    var named = Self.activity
    named.installation = "i2"
    phones = RidePhones([Self.phone, second], activities: [named])
    #expect(phones.receivers(of: card(.update, after: 1)) == [8])
    #expect(phones.receivers(of: card(.update, after: 1, token: nil)) == [7, 8])
  }

  @Test func `Only the last steps of a long ride are kept`() throws {
    let pushes = (0..<Int64(LedgerScreens.stepLimit) + 20).map { alert("\($0)", after: $0) }
    let phone = try #require(screens(pushes).phones.first)
    #expect(phone.steps.count == LedgerScreens.stepLimit && phone.isCut)
    #expect(phone.steps.last?.now == pushes.last?.at)
    #expect(phone.steps.last?.unknownCount == pushes.count)
  }

  @Test func `A step has all that counted until then, and of losses only what is new`() throws {
    let screens = screens([
      alert("a"), card(.update, after: 10), alert("b", after: 20), alert("c", after: 30),
    ])
    let steps = try #require(screens.phones.first).steps
    #expect(steps.map(\.unknownCount) == [1, 3, 4])
    #expect(steps.map(\.outcomes.count) == [1, 2, 1])
    let losses = steps.map { $0.outcomes.compactMap(\.fate.loss) }
    #expect(losses == [[], ["the phone has no such card"], []])
  }

  @Test func `A card that nothing ended ends after 8 hours, and leaves 4 hours later`() throws {
    let screens = screens([], activities: [Self.activity], until: 13)
    let steps = try #require(screens.phones.first).steps
    #expect(
      steps.map { ($0.now - Sample.now) } == [.zero, .seconds(8 * 3600), .seconds(12 * 3600)])
    #expect(steps.map { $0.cards.first?.isEnded } == [false, true, nil])
  }
}
