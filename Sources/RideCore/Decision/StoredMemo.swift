// A memo as JSON. What many pushes share, the data of their event and a former row, is stored once:
// a ride with thousands of phones may retry one event for each of them.
extension Memo: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    self.init()
    var fields = try FieldReader(stored)
    var (data, images, retries) = ([Int64: String](), [RideImage](), [StoredRetry]())
    try visitUnshared(&fields)
    try fields.parts("data", &data)
    try fields.parts("images", &images)
    try fields.parts("retries", &retries)
    try fields.parts("cards", &cards)
    try fields.parts("starts", &starts)
    self.retries = retries.map { retry in
      var pending = retry.pending
      pending.image = retry.image.flatMap { images.indices.contains($0) ? images[$0] : nil }
      return pending
    }
    if data.isEmpty { return }
    updateEvents { event in
      if event.data.isEmpty { event.data = data[event.id] ?? "{}" }
    }
  }

  /// Stores the parts that are not empty.
  package func store(in json: inout [UInt8]) {
    var memo = self
    let data = memo.removeData()
    FieldWriter.object(in: &json) { fields in
      memo.write(data, to: &fields)
      try? memo.visitUnshared(&fields)
    }
  }

  private mutating func visitUnshared(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.parts("slots", &slots)
    try fields.parts("unrepeatable", &unrepeatable)
    try fields.field("part", &part)
    try fields.parts("conditions", &conditions)
  }

  private mutating func write(_ data: [Int64: String], to fields: inout FieldWriter) {
    var (data, images, places) = (data, [RideImage](), [ObjectIdentifier: Int]())
    var retries = self.retries.map { pending in
      var retry = StoredRetry(pending: pending)
      guard let image = pending.image else { return retry }
      retry.image = places[ObjectIdentifier(image)] ?? images.firstIndex(of: image) ?? images.count
      if retry.image == images.count { images.append(image) }
      places[ObjectIdentifier(image)] = retry.image
      return retry
    }
    fields.parts("data", &data)
    fields.parts("images", &images)
    fields.parts("retries", &retries)
    fields.parts("cards", &cards)
    fields.parts("starts", &starts)
  }

  /// Removes the data from the memo's events, and returns it by the ID of the event.
  private mutating func removeData() -> [Int64: String] {
    var data: [Int64: String] = [:]
    updateEvents { event in
      if event.data == "{}" { return }
      // After a failover, two events may have one ID: the second one keeps its data.
      if let stored = data[event.id], stored != event.data { return }
      data[event.id] = event.data
      event.data = ""
    }
    return data
  }

  private mutating func updateEvents(_ update: (inout RideEvent) -> Void) {
    for index in retries.indices { update(&retries[index].entry.event) }
    for id in starts.keys {
      guard var start = starts[id] else { continue }
      update(&start.entry.event)
      starts[id] = start
    }
    for id in cards.keys {
      guard var card = cards[id] else { continue }
      for path in [\CardMemo.subject, \.cause, \.alert] {
        guard var event = card[keyPath: path] else { continue }
        update(&event)
        card[keyPath: path] = event
      }
      cards[id] = card
    }
  }
}

/// A waiting push that refers to its image by place in `images`.
private struct StoredRetry: StoredObject {
  var pending: PendingPush
  var image: Int?

  static var blank: StoredRetry {
    StoredRetry(pending: PendingPush(entry: .blank, due: Timestamp(microseconds: 0)))
  }

  mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("entry", &pending.entry)
    try fields.field("due", &pending.due)
    try fields.field("waitsForCard", &pending.waitsForCard)
    try fields.field("image", &image)
    try fields.field("awaited", &pending.awaited)
  }
}

extension ConditionMemo: StoredObject {
  package static var blank: ConditionMemo { ConditionMemo() }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("last", &last)
    try fields.field("complaint", &complaint)
  }
}

extension SlotMemo: StoredValue {
  /// Reads `ANCHOR THROUGH PLANNED FIRED`, in microseconds since 1970, with `-` for none; then, if
  /// there is more, `CHANGED` and `unreadable` or `-`.
  package init(stored: JSONValue) throws(StoredFault) {
    let text = try String(stored: stored)
    var words = SlotWords(text)
    guard let anchor = words.next(), let through = words.next(), let microseconds = through,
      let planned = words.next(), let fired = words.next()
    else { throw StoredFault(stored, isNot: "times of slots") }
    self.init(
      anchor: anchor.map(Timestamp.init(microseconds:)),
      through: Timestamp(microseconds: microseconds),
      planned: planned.map(Timestamp.init(microseconds:)),
      fired: fired.map(Timestamp.init(microseconds:)))
    if words.isAtEnd { return }
    guard let changed = words.next(), let rest = words.rest, rest == "-" || rest == "unreadable"
    else { throw StoredFault(stored, isNot: "times of slots") }
    self.changed = changed.map(Timestamp.init(microseconds:))
    isUnreadable = rest == "unreadable"
  }

  /// Stores the memo as one text: an object for each rule would take three times as long.
  package func store(in json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    for (place, instant) in [anchor, through, planned, fired].enumerated() {
      if place > 0 { json.append(UInt8(ascii: " ")) }
      Self.append(instant, to: &json)
    }
    if changed != nil || isUnreadable {
      json.append(UInt8(ascii: " "))
      Self.append(changed, to: &json)
      json.append(contentsOf: (isUnreadable ? " unreadable" : " -").utf8)
    }
    json.append(UInt8(ascii: "\""))
  }

  private static func append(_ instant: Timestamp?, to json: inout [UInt8]) {
    if let instant {
      json.append(json: instant.microseconds)
    } else {
      json.append(UInt8(ascii: "-"))
    }
  }
}

/// Reads the words of a slot memo: each ride has one for each rule, and a split of the text would
/// take half of the time of reading it.
private struct SlotWords {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { place >= bytes.count }

  /// What is left.
  var rest: String? { String(validating: bytes[min(place, bytes.count)...], as: UTF8.self) }

  /// Returns the next number, or nil for `-`; `.none` if the next word is neither.
  mutating func next() -> Int64?? {
    let start = place
    let isNegative = start < bytes.count && bytes[start] == UInt8(ascii: "-")
    if isNegative { place += 1 }
    // The negative number, whose range is larger by one.
    var number: Int64 = 0
    while place < bytes.count, case let digit = bytes[place] &- UInt8(ascii: "0"), digit < 10 {
      let (tenfold, isTooLow) = number.multipliedReportingOverflow(by: 10)
      let (sum, isLower) = tenfold.subtractingReportingOverflow(Int64(digit))
      if isTooLow || isLower { return .none }
      number = sum
      place += 1
    }
    let length = place - start
    if place < bytes.count {
      guard bytes[place] == UInt8(ascii: " "), place + 1 < bytes.count else { return .none }
      place += 1
    }
    if length == 1, isNegative { return .some(nil) }
    if length == 0 || !isNegative && number == .min { return .none }
    return .some(isNegative ? number : -number)
  }
}

extension OpenPart: StoredObject {
  package static var blank: OpenPart { OpenPart(through: 0, throughTime: nil, after: 0, slots: []) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("through", &through)
    try fields.field("throughTime", &throughTime)
    try fields.field("startedAt", &startedAt)
    try fields.field("after", &after)
    try fields.field("slots", &slots)
    try fields.field("shown", &shown)
    try fields.field("withheld", &withheld)
    try fields.field("remembered", &remembered)
  }
}

extension OpenPart.Slot: StoredObject {
  package static var blank: OpenPart.Slot {
    OpenPart.Slot(rule: "", at: Timestamp(microseconds: 0))
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("rule", &rule)
    try fields.field("at", &at)
  }
}

extension WithheldFiring: StoredObject {
  package static var blank: WithheldFiring {
    WithheldFiring(rule: "", event: 0, at: Timestamp(microseconds: 0))
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("rule", &rule)
    try fields.field("event", &event)
    try fields.field("at", &at)
  }
}
