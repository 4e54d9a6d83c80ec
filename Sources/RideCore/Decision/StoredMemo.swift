// A memo as JSON. What many pushes share, the data of their event and a former row, is stored once:
// a ride with thousands of phones may retry one event for each of them.

package import Base
extension Memo: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    self.init()
    var fields = try FieldReader(stored)
    var (data, images, waiting) = ([Int64: String](), [RideImage](), [StoredItem]())
    try visitUnshared(&fields)
    try fields.parts("data", &data)
    try fields.parts("images", &images)
    try fields.parts("waiting", &waiting)
    try fields.parts("cards", &cards)
    try fields.parts("starts", &starts)
    self.waiting = waiting.map { stored in
      var item = stored.item
      item.image = stored.image.flatMap { images.indices.contains($0) ? images[$0] : nil }
      return item
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
    var stored = slots.isEmpty ? nil : StoredSlots(slots: slots)
    try fields.field("slots", &stored)
    slots = stored?.slots ?? [:]
    try fields.parts("unrepeatable", &unrepeatable)
    try fields.field("part", &part)
    // Hardly any ride is.
    var isTakenOver = self.isTakenOver ? true : nil
    try fields.field("isTakenOver", &isTakenOver)
    self.isTakenOver = isTakenOver ?? false
    try fields.parts("conditions", &conditions)
    try fields.parts("fired", &fired)
    try fields.parts("awaitedStarts", &awaitedStarts)
    try fields.parts("runs", &runs)
    try fields.field("emits", &emitTally)
    try fields.parts("traces", &traces)
  }

  private mutating func write(_ data: [Int64: String], to fields: inout FieldWriter) {
    var (data, images, indices) = (data, [RideImage](), [ObjectIdentifier: Int]())
    var waiting = self.waiting.map { item in
      var stored = StoredItem(item: item)
      guard let image = item.image else { return stored }
      let index = indices[ObjectIdentifier(image)] ?? images.firstIndex(of: image) ?? images.count
      if index == images.count { images.append(image) }
      indices[ObjectIdentifier(image)] = index
      stored.image = index
      return stored
    }
    fields.parts("data", &data)
    fields.parts("images", &images)
    fields.parts("waiting", &waiting)
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
    for index in waiting.indices { update(&waiting[index].entry.event) }
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

/// A waiting item that refers to its image by index in `images`.
private struct StoredItem: StoredObject {
  var item: WaitingItem
  var image: Int?

  static var blank: StoredItem { StoredItem(item: WaitingItem(entry: .blank, wait: .blank)) }

  mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("entry", &item.entry)
    try fields.field("wait", &item.wait)
    try fields.field("image", &image)
  }
}

extension ConditionMemo: StoredObject {
  package static var blank: ConditionMemo { ConditionMemo() }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("last", &last)
    try fields.field("complaint", &complaint)
  }
}

/// The slot memos of a memo.
///
/// Nearly each ride has some, and the code for dictionaries of all kinds takes three times as long.
private struct StoredSlots: StoredValue {
  var slots: [String: SlotMemo]

  init(slots: [String: SlotMemo]) { self.slots = slots }

  init(stored: JSONValue) throws(StoredFault) {
    guard case .object(let members) = stored else { throw StoredFault(stored, isNot: "an object") }
    slots = [:]
    slots.reserveCapacity(members.count)
    for (rule, memo) in members {
      do throws(StoredFault) {
        slots[rule] = try SlotMemo(stored: memo)
      } catch {
        throw error.within(String(decoding: JSONValue.string(rule).json, as: UTF8.self))
      }
    }
  }

  func store(in json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    for (rule, memo) in slots {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      json.append(json: rule)
      json.append(UInt8(ascii: ":"))
      memo.store(in: &json)
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension SlotMemo: StoredValue {
  /// Reads `ANCHOR THROUGH PLANNED FIRED CHANGED`, in microseconds since 1970, with `-` for none;
  /// then `unreadable` or `-`.
  package init(stored: JSONValue) throws(StoredFault) {
    var words = try SlotWords(stored)
    let anchor = try words.instant()
    guard let through = try words.instant() else { throw words.fault }
    self.init(
      anchor: anchor, through: through, planned: try words.instant(), fired: try words.instant())
    changed = try words.instant()
    isUnreadable = try words.isUnreadable()
    if !words.isAtEnd { throw words.fault }
  }

  /// Stores the memo as one text: an object for each rule would take three times as long.
  package func store(in json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    for instant in [anchor, through, planned, fired, changed] {
      if let instant {
        json.append(json: instant.microseconds)
      } else {
        json.append(UInt8(ascii: "-"))
      }
      json.append(UInt8(ascii: " "))
    }
    json.append(contentsOf: (isUnreadable ? "unreadable" : "-").utf8)
    json.append(UInt8(ascii: "\""))
  }
}

/// Reads the words of a slot memo in place: each ride has a memo for each rule, and a text for each
/// word would take half of the time.
private struct SlotWords {
  private let stored: JSONValue
  private let bytes: [UInt8]
  /// Where the next word begins; beyond the end after the last one.
  private var start = 0

  init(_ stored: JSONValue) throws(StoredFault) {
    self.stored = stored
    bytes = Array(try String(stored: stored).utf8)
  }

  var isAtEnd: Bool { start > bytes.count }

  var fault: StoredFault { StoredFault(stored, isNot: "times of slots") }

  private mutating func next() throws(StoredFault) -> Range<Int> {
    if isAtEnd { throw fault }
    let end = bytes[start...].firstIndex(of: UInt8(ascii: " ")) ?? bytes.count
    defer { start = end + 1 }
    return start..<end
  }

  /// Returns the next time; nil for `-`.
  mutating func instant() throws(StoredFault) -> Timestamp? {
    let word = try next()
    if bytes[word].elementsEqual("-".utf8) { return nil }
    guard let microseconds = Int64(decimal: bytes.span.extracting(word)) else { throw fault }
    return Timestamp(microseconds: microseconds)
  }

  mutating func isUnreadable() throws(StoredFault) -> Bool {
    let word = bytes[try next()]
    if word.elementsEqual("unreadable".utf8) { return true }
    if word.elementsEqual("-".utf8) { return false }
    throw fault
  }
}

extension OpenPart: StoredObject {
  package static var blank: OpenPart {
    OpenPart(through: 0, startedAt: Timestamp(microseconds: 0), after: 0, slots: [])
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("through", &through)
    try fields.field("throughTime", &throughTime)
    try fields.field("startedAt", &startedAt)
    try fields.field("after", &after)
    try fields.field("slots", &slots)
    try fields.field("shown", &shown)
    // The name of earlier builds, whose nodes may decide the rest of a pass, or have begun it.
    try fields.field("withheld", &blocked)
    try fields.field("remembered", &remembered)
    try fields.field("isTakenOver", &isTakenOver)
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

extension RuleFiring: StoredObject {
  package static var blank: RuleFiring {
    RuleFiring(rule: "", event: 0, at: Timestamp(microseconds: 0))
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("rule", &rule)
    try fields.field("event", &event)
    try fields.field("at", &at)
    try fields.field("app", &app)
    try fields.field("owner", &owner)
  }
}
