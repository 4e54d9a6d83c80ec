import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// From passes of a ride to the lines of a day.
@Suite struct DayRecorderTests {
  private let names = Pseudonyms(salt: "a salt of some length")
  private let rules = Sample.book([Sample.rule()]).rules
  private let start = Sample.now - .seconds(3600)

  private func recorder() -> DayRecorder {
    DayRecorder(names, HarmlessValues(names, keeping: [], rules: rules), from: start)
  }

  /// Returns a pass as the engine records it.
  private func pass(
    _ view: RideView, _ outcome: PushOutcome = .accepted, emits: [EmittedEvent] = []
  ) throws -> RecordedPass {
    let decision = decide(view, by: AndroidSample.book([Sample.rule()]), now: Sample.now)
    let outcomes = decision.pushes.map { _ in outcome }
    var settlement = decision.settled(outcomes, now: Sample.now + .seconds(1)) { 0.5 }
    settlement.emits += emits
    var times = PassTimes(
      decidedAt: Sample.now, sample: RecordSample(text: "100%"),
      pushes: decision.pushes.count, at: .seconds(10))
    for index in decision.pushes.indices { times.answer(index, at: .milliseconds(10_035)) }
    return try #require(
      RecordedPass(decision, outcomes, settlement, times, now: Sample.now + .seconds(1)))
  }

  private func lines(_ passes: [RecordedPass]) -> [DayLine] {
    var recorder = recorder()
    for (index, pass) in passes.enumerated() {
      recorder.add("r1", fence: Int64(index), json: pass.json)
    }
    return recorder.lines(before: nil)
  }

  @Test func `A pass has what was read, what APNs answered, and what came of it`() throws {
    var view = Sample.view()
    view.ride?.attributes = #"{"plate": "B-RP 1001", "seats": 4}"#
    let pass = try pass(view)
    #expect(pass.decidedAt == Sample.now && pass.from == view.events.first?.at)
    let lines = lines([pass])
    let text = lines.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: "\n")
    for secret in ["B-RP", Sample.customerToken, Sample.driverToken, #""c""#, #""d""#, #""r1""#] {
      #expect(!text.contains(secret), "\(secret) in \(text)")
    }
    let token = names.token(Sample.customerToken)
    let answers = lines.compactMap { line -> RecordedAnswer? in
      if case .answer(let answer) = line.content { answer } else { nil }
    }
    #expect(answers.map(\.token) == [token] && answers.map(\.status) == [200])
    #expect(answers.map(\.after) == [.milliseconds(35)])
    #expect(
      lines.contains { line in
        if case .answer = line.content { line.at == Sample.now + .milliseconds(35) } else { false }
      })
    let outcomes = lines.compactMap { line -> RecordedOutcome? in
      if case .outcome(let outcome) = line.content { outcome } else { nil }
    }
    #expect(outcomes.map(\.push.token) == [token] && outcomes.map(\.status) == [.accepted])
    #expect(outcomes.map(\.event) == ["driver_arrived"])
    #expect(outcomes.map(\.eventAt) == view.events.map(\.at))
    #expect(text.contains(#""seats":4"#) && text.contains(#""event":"driver_arrived""#))
    // The reader of days takes each line, in this order.
    var reader = DayReader()
    var header = DayHeader(from: start, to: Sample.now + .seconds(60))
    header.engine = "1"
    _ = try reader.read(header.json)
    for line in lines { #expect(try reader.read(line.json) == line) }
  }

  @Test(arguments: [AndroidSample.fid, AndroidSample.token])
  func `Answers of FCM have the pseudonym of their phone, in the form of an address at FCM`(
    address: String
  ) throws {
    let lines = lines([try pass(Sample.view(phones: [AndroidSample.phone(token: address)]))])
    var phones: [String] = []
    var pushes: [String?] = []
    for line in lines {
      switch line.content {
      case .change(.phone(let phone)): phones.append(phone.token)
      case .answer(let answer): pushes.append(answer.token)
      case .outcome(let outcome): pushes.append(outcome.push.token)
      default: break
      }
    }
    let phone = try #require(phones.first)
    #expect(phones.count == 1 && pushes == [phone, phone])
    #expect(phone != address)
    let isFID = FCMRegistration(address)?.isFID
    #expect(FCMRegistration(phone)?.isFID == isFID)
  }

  @Test func `A row is whole once, and then only what changed`() throws {
    var view = Sample.view()
    view.ride?.attributes = #"{"a": 1, "b": 2}"#
    let first = try pass(view)
    var later = view
    later.ride?.attributes = #"{"a": 3}"#
    later.events = [Sample.event(2, "driver_arrived")]
    let lines = lines([first, first, try pass(later)])
    let rows = lines.compactMap { line -> RideUpdate? in
      if case .change(.ride(let ride)) = line.content { ride } else { nil }
    }
    #expect(rows.count == 2)
    let whole = try #require(rows.first)
    #expect(whole.state != nil && whole.customerID != nil && whole.attributes?.count == 2)
    #expect(
      rows.last == RideUpdate(id: whole.id, attributes: ["a": .integer(3), "b": .null]))
    let phones = lines.filter { if case .change(.phone) = $0.content { true } else { false } }
    #expect(phones.count == view.phones.count)
  }

  @Test func `A ride without a row has no events and cards, which the reader would refuse`() throws
  {
    var view = Sample.view()
    view.ride = nil
    view.cards = [
      Card(.activity(1), app: .customer, ownerID: "c", token: "0f", registeredAt: Sample.now)
    ]
    let lines = lines([try pass(view)])
    #expect(
      lines.allSatisfy { line in
        switch line.content {
        case .change(.event), .change(.card), .change(.ride): false
        default: true
        }
      })
  }

  @Test func `A pass that was overtaken changes no row`() throws {
    var old = Sample.view()
    old.ride?.state = "requested"
    var recorder = recorder()
    recorder.add("r1", fence: 2, json: try pass(Sample.view()).json)
    recorder.add("r1", fence: 1, json: try pass(old).json)
    let rows = recorder.lines(before: nil).filter {
      if case .change(.ride) = $0.content { true } else { false }
    }
    #expect(rows.count == 1)
  }

  @Test func `A phone that is no longer read is gone, unless only a part was read`() throws {
    let first = try pass(Sample.view())
    var view = Sample.view(phones: [])
    view.events = []
    let gone = lines([first, try pass(view)]).compactMap { line -> Registration? in
      if case .change(.phone(let phone)) = line.content, phone.isRemoved { phone } else { nil }
    }
    #expect(Set(gone.map(\.token)).contains(names.token(Sample.customerToken)))
    let part = try pass(view).json.replacing("{", with: #"{"is_part":true,"#, maxReplacements: 1)
    var recorder = recorder()
    recorder.add("r1", fence: 1, json: first.json)
    recorder.add("r1", fence: 2, json: part)
    let left = recorder.lines(before: nil).filter { line in
      if case .change(.phone(let phone)) = line.content { phone.isRemoved } else { false }
    }
    #expect(left.isEmpty)
  }

  @Test func `Events that a rule emitted are left out, once each`() throws {
    var emitting = Sample.view()
    emitting.events = [Sample.event(1, "driver_arrived")]
    let emitted = EmittedEvent(name: "pong", data: #"{"n": 1}"#, at: Sample.now)
    var later = Sample.view()
    later.events = [Sample.event(2, "pong", data: #"{"n":1}"#), Sample.event(3, "pong")]
    let lines = lines([try pass(emitting, emits: [emitted]), try pass(later)])
    let events = lines.compactMap { line -> NamedEvent? in
      if case .change(.event(let event)) = line.content { event } else { nil }
    }
    #expect(events.map(\.name).sorted() == ["driver_arrived", "pong"])
    #expect(events.filter { $0.name == "pong" }.map(\.data) == [[:]])
  }

  @Test func `Contacts have the phone that made them, if one did`() throws {
    func contacts(_ ages: [Int64?]) throws -> [(InstallationID?, Timestamp)] {
      var view = Sample.view(
        phones: ages.indices.map { index in
          var phone = Sample.phone(Int64(index + 1), token: "aa0\(index)")
          phone.installationID = InstallationID("i\(index)")
          phone.contactedAt = ages[index].map { Sample.now - .seconds($0) }
          return phone
        })
      view.contacts = []
      return lines([try pass(view)]).compactMap { line in
        if case .change(.contact(let contact)) = line.content {
          (contact.installation, line.at)
        } else {
          nil
        }
      }
    }
    let one = try contacts([40, nil])
    #expect(one.map(\.0) == [InstallationID(names.id(.installation, "i0"))])
    #expect(one.map(\.1) == [Sample.now - .seconds(40)])
    #expect(try contacts([40, 40]).map(\.0) == [nil])
    // Contacts of long ago decide nothing any more.
    #expect(try contacts([4000, nil]).isEmpty)
  }

  @Test func `Lines are given out when nothing earlier can follow`() throws {
    var recorder = recorder()
    recorder.add("r1", fence: 1, json: try pass(Sample.view()).json)
    let early = recorder.lines(before: Sample.now)
    let rest = recorder.lines(before: nil)
    #expect(!early.isEmpty && early.allSatisfy { $0.at < Sample.now })
    #expect(!rest.isEmpty && rest.allSatisfy { $0.at >= Sample.now })
  }

  @Test func `An event about no ride has the ID that its replay has, and is no ride`() throws {
    let owner = OwnerID("u 17")
    let ride = RideID(ofPerson: owner, app: .customer)
    var view = RideView(rideID: ride, ride: nil, phones: [])
    view.events = [
      RideEvent(
        id: 1, name: "driver_arrived", at: Sample.now, data: #"{"customer_id":"u 17","n":1}"#)
    ]
    var pass = try self.pass(view)
    var recorder = recorder()
    recorder.add(ride, fence: 1, json: pass.json)
    #expect(recorder.rideCount == 0)
    #expect(
      recorder.rides[ride]?.id
        == RideID(ofPerson: OwnerID(names.id(.owner, "u 17")), app: .customer))
    pass = try self.pass(Sample.view())
    recorder.add("r1", fence: 1, json: pass.json)
    #expect(recorder.rideCount == 1)
  }

  @Test func `The sample is stable, nested, and without raw pushes`() throws {
    let small = try #require(RecordSample(text: "5%"))
    let large = try #require(RecordSample(text: "20%"))
    let rides = (0..<4000).map { RideID("ride-\($0)") }
    let chosen = rides.filter(small.contains)
    #expect((120...280).contains(chosen.count), "\(chosen.count)")
    #expect(chosen.allSatisfy(large.contains) && chosen == rides.filter(small.contains))
    #expect(small.percent == 5 && small.text == "5%")
    let all = try #require(RecordSample(text: "100%"))
    #expect(all.contains("r") && !all.contains(RideID("legacy:customer:00")))
    for text in [
      "5", "0%", "0.0%", "100.1%", "101%", "1000%", "-1%", "+1%", "five%", "%", ".5%", "5.%",
      "1e1%",
      "1,5%", "0.00001%", "1.2.3%", "١%", " 1%", "",
    ] {
      #expect(RecordSample(text: text) == nil, "\(text)")
    }
    for (text, millionths, shown) in [
      ("0.5%", 5000, "0.5%"), ("0.0001%", 1, "0.0001%"), ("33.30%", 333_000, "33.3%"),
      ("007%", 70_000, "7%"),
    ] as [(String, UInt64, String)] {
      let sample = try #require(RecordSample(text: text))
      #expect(sample.millionths == millionths && sample.text == shown)
    }
  }
}
