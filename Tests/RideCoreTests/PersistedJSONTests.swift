import Foundation
import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// Everything that Postgres stores as JSON of a Swift type keeps its form: rows written by one
/// version are read by the next one.
///
/// A test that fails here means that rides in flight would lose their memory in an upgrade. From the
/// first release on, add a golden file for the new form, and keep reading the old one.
@Suite("JSON in the database") struct PersistedJSONTests {
  private static let now = Timestamp(epochSeconds: 1_800_000_000)

  private static var event: RideEvent {
    var event = RideEvent(id: 7, name: "driver_arrived", at: now, data: #"{"eta": 3}"#)
    event.firesAt = now + .seconds(5)
    return event
  }

  private static var entry: LedgerEntry {
    var entry = LedgerEntry(
      id: PushID(of: "persisted"), event: event, rule: "arrived", app: .customer, pushType: .alert,
      status: .pending, reason: LedgerReason(.noAnswer, "no answer"), attempts: 2,
      collapseID: "ride-r1", phone: 11, tokenSuffix: "c1c1c1", priority: .immediate,
      expiration: 1_800_000_300, cardEvent: .update, card: .activity(21), startToken: 31,
      doubt: .unanswered,
      owner: "c")
    entry.isOfParticipant = true
    entry.uniqueID = "8f2e1a90-6a55-4d3f-9d3c-0c5b0a7a1b11"
    entry.receiver = "sms"
    return entry
  }

  private static var waiting: Memo {
    let image = RideImage(
      state: "driver_arrived", customer: "c", driver: "d", pickupAt: now,
      timeZone: "Europe/Berlin", attributes: #"{"plate": "B-RP 1"}"#)
    let waits: [Wait] = [
      .retry(at: now + .seconds(5)), .until(now), .quiet(until: now), .behind(until: now),
      .card(at: now), .receipt(until: now, of: [PushID(of: "awaited")]),
    ]
    var memo = Memo()
    memo.waiting = waits.map { WaitingItem(entry: entry, wait: $0, image: image) }
    return memo
  }

  private static var slots: Memo {
    var memo = Memo()
    memo.slots["heartbeat"] = SlotMemo(
      anchor: now, through: now + .seconds(1), planned: now + .seconds(2),
      fired: now + .seconds(3))
    memo.slots["heartbeat"]?.changed = now + .seconds(4)
    memo.slots["heartbeat"]?.isUnreadable = true
    return memo
  }

  private static var cards: Memo {
    var card = CardMemo(
      of: Card(
        .activity(21), app: .customer, ownerID: "c", token: "00112233445566", registeredAt: now),
      now: now)
    card.timestamp = 1_800_000_001
    card.number = 4
    card.shown = "fingerprint"
    card.staleAt = now + .seconds(60)
    card.sentAt = now + .seconds(1)
    card.failures = 2
    card.isPending = true
    card.subject = event
    card.retryAt = now + .seconds(2)
    card.urgentAt = [1_800_000_000]
    card.cause = event
    card.isUrgent = true
    card.alert = event
    card.endsAt = now + .seconds(3)
    card.endedBy = "ride_completed"
    card.scoredBy = "driver_arrived"
    card.isRefused = true
    card.isDismissed = true
    card.hasMatchedOwner = true
    card.complaint = "over_budget"
    var memo = Memo()
    memo.cards[.activity(21)] = card
    memo.cards[.channel(3)] = card
    return memo
  }

  private static var androidCards: Memo {
    var memo = Memo()
    var run = CardRun(event: event, number: 2)
    (run.excluded, run.endsAt, run.endedBy) = (["c2"], now + .seconds(3), "driver_lost")
    memo.runs["customer"] = run
    memo.cards[.phone(41)] = cards.cards[.activity(21)]
    memo.cards[.phone(41)]?.android = AndroidCardMemo(app: .customer, run: 2)
    memo.cards[.phone(41)]?.android?.isStarted = true
    return memo
  }

  private static var starts: Memo {
    var memo = Memo()
    var start = StartMemo(entry: entry, owner: "c", shown: "fingerprint", isOpen: true)
    start.installationID = "installation-1"
    memo.starts[31] = start
    return memo
  }

  private static var unrepeatable: Memo {
    var memo = Memo()
    memo.unrepeatable = [PushID(of: "call"), PushID(of: "start")]
    return memo
  }

  private static var part: Memo {
    var memo = Memo()
    memo.part = OpenPart(
      through: 9, throughTime: now, startedAt: now, after: 11,
      slots: [OpenPart.Slot(rule: "heartbeat", at: now)], shown: ["21": [7]])
    memo.part?.blocked = [
      RuleFiring(rule: "eta-moved", event: 8, at: now),
      RuleFiring(rule: "variant", event: 8, at: now, app: .driver, owner: "d7"),
    ]
    memo.part?.isTakenOver = true
    memo.part?.remembered = ["eta-moved": #"{"eta":1800000000}"#]
    return memo
  }

  private static var conditions: Memo {
    var memo = Memo()
    memo.conditions["eta-moved"] = ConditionMemo(
      last: #"{"eta":1800000000}"#, complaint: "if: ride.attributes.eta is missing")
    memo.fired[RuleFiring(rule: "eta-moved", event: 8, at: now).key] = #"{"eta":1800000000}"#
    return memo
  }

  private static var emits: Memo {
    var memo = Memo()
    memo.emitTally = EmitTally(since: now)
    memo.emitTally?.count = 3
    memo.emitTally?.isAfterEnd = true
    return memo
  }

  private static var problem: PhoneProblem {
    var problem = PhoneProblem()
    problem.refusals = 2
    problem.probe = PushID(of: "probe")
    problem.isProbed = true
    problem.quietUntil = now.microseconds
    problem.isQuarantined = true
    return problem
  }

  @Test("A push that waits for an attempt") func retry() throws {
    try expectGolden(Self.waiting, "memo-waiting")
  }

  @Test("The progress of a schedule rule") func slot() throws {
    try expectGolden(Self.slots, "memo-slot")
  }

  @Test("The state of a card") func card() throws {
    // Only the card of an Android phone has the part of Android.
    try expectGolden(
      Self.cards, "memo-card", unset: Array(repeating: ".cards..value.android", count: 2))
  }

  @Test("The card that runs on Android phones") func androidCard() throws {
    try expectGolden(Self.androidCards, "memo-android")
  }

  @Test("The start of a card by push") func start() throws {
    try expectGolden(Self.starts, "memo-start")
  }

  @Test("The raw pushes that were sent and must not repeat") func unrepeatable() throws {
    try expectGolden(Self.unrepeatable, "memo-unrepeatable")
  }

  @Test("What a rule's if needs of the last decision") func condition() throws {
    try expectGolden(Self.conditions, "memo-condition")
  }

  @Test("The events that a ride's rules emitted") func emitted() throws {
    try expectGolden(Self.emits, "memo-emits")
  }

  @Test("The rest of a pass that was split") func openPart() throws {
    // The first firing that `if` blocked is that of all people.
    try expectGolden(Self.part, "memo-part", unset: [".part.blocked..app", ".part.blocked..owner"])
  }

  @Test("The problems of a phone, which SQL writes with these keys") func phoneProblem() throws {
    try expectGolden(Self.problem, "phone-problem")
  }

  @Test("The data of a legacy push's event") func legacyPush() throws {
    let token = try #require(DeviceToken(String(repeating: "c1", count: 32)))
    let push = LegacyPush(
      app: .customer, token: token, payload: #"{"aps":{"alert":"Hi"}}"#,
      expiration: 1_800_000_000, priority: .powerAware, identifier: 4711)
    #expect(Self.unset(push) == [])
    let file = Self.file("legacy-push")
    let json = try JSONText.normalized(Data(push.raw.eventData.utf8))
    #expect(try Golden.difference(of: json, from: file) == nil)
    // Postgres adds `apns_id` when it commits the event.
    let id = PushID(of: "committed")
    let stored = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("{\n", with: "{\n  \"apns_id\" : \"\(id)\",\n", maxReplacements: 1)
    let event = RideEvent(id: 1, name: RawPush.Source.legacy.event, at: Self.now, data: stored)
    let read = try #require(RawPush.read(event, from: .legacy))
    #expect(read.push == push.raw && read.id == id)
  }

  @Test("The data of a raw push's event, as ridepulse.push writes it", arguments: [true, false])
  func rawPush(isBroadcast: Bool) throws {
    let token = try #require(DeviceToken(String(repeating: "c1", count: 32)))
    let channel = try #require(ChannelID("dHN0+/=="))
    var push = RawPush(
      isBroadcast ? .broadcast : .push, app: .customer,
      target: isBroadcast ? .channel(channel) : .device(token),
      payload: #"{"aps":{"event":"update"}}"#, pushType: .liveactivity, priority: .powerAware,
      expiration: 1_800_000_000)
    push.environment = .sandbox
    push.isStored = !isBroadcast
    if !isBroadcast {
      push.collapseID = CollapseID("order")
      push.isRegistered = true
    }
    let unset = isBroadcast ? [".collapseID", ".identifier"] : [".identifier"]
    #expect(Self.unset(push) == unset)
    let file = Self.file(isBroadcast ? "raw-broadcast" : "raw-push")
    let json = try JSONText.normalized(Data(push.eventData.utf8))
    #expect(try Golden.difference(of: json, from: file) == nil)
    let stored = try String(contentsOfFile: file, encoding: .utf8)
    let event = RideEvent(id: 1, name: push.source.event, at: Self.now, data: stored)
    #expect(RawPush.read(event, from: push.source)?.push == push)
  }

  @Test(
    "Times of slots, and texts that are none",
    arguments: [
      ("1 2 3 4 5 -", true), ("- 2 - - - -", true), ("-62135596800000000 2 - 4 5 -", true),
      ("1 2 3 4 - unreadable", true), ("9223372036854775807 -9223372036854775808 - - - -", true),
      ("9223372036854775808 2 3 4 5 -", false), ("1 - 3 4 5 -", false), ("1 2 3 4", false),
      ("", false), ("1 2 3 x 5 -", false), ("1 2 3 4 5", false), ("1 2 3 4 5 maybe", false),
      ("1  2 3 4 5 -", false), ("1 2 -- 4 5 -", false), ("1 2 3 4 5 - ", false),
      ("1 2 3 4 5é", false),
    ]) func slotTimes(text: String, isRead: Bool)
  {
    let slot = try? SlotMemo(stored: .string(text))
    #expect((slot != nil) == isRead)
    if let slot { #expect(slot.storedText == #""\#(text)""#) }
  }

  @Test("Values with an empty optional field are noticed") func emptyFieldIsNoticed() {
    var memo = Self.cards
    memo.cards[.activity(21)]?.cause = nil
    #expect(Self.unset(memo).contains { $0.hasSuffix(".cause") })
  }

  /// Expects that a value is stored as the golden file, and that the golden file is read as the
  /// value.
  ///
  /// - Parameter unset: Optional fields that one element of a list lacks and another one has.
  private func expectGolden<Value: StoredValue & Equatable>(
    _ value: Value, _ name: String, unset: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(Self.unset(value) == unset, sourceLocation: sourceLocation)
    let file = Self.file(name)
    let json = try JSONText.normalized(Data(value.storedText.utf8))
    #expect(try Golden.difference(of: json, from: file) == nil, sourceLocation: sourceLocation)
    let stored = try String(contentsOfFile: file, encoding: .utf8)
    let read = try Value(storedText: stored)
    #expect(read == value, sourceLocation: sourceLocation)
  }

  private static func file(_ name: String) -> String {
    Project.path("Tests/RideCoreTests/Golden/\(name).json")
  }

  /// Returns the paths of optional fields that are nil: a golden file must show each field.
  private static func unset(_ value: Any, _ path: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      guard let child = mirror.children.first else { return [path] }
      return unset(child.value, path)
    }
    // A memo stores no people, and one kind of state is tested at a time.
    return mirror.children.flatMap { child -> [String] in
      let name = child.label ?? ""
      let isKind = value is Memo && ["part", "emitTally"].contains(name)
      let isOtherKind = isKind && "\(child.value)" == "nil"
      if name == "people" || isOtherKind { return [] }
      return unset(child.value, "\(path).\(name)")
    }
  }
}
