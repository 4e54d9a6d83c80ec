import Base
import Foundation
import RideCore

/// Corrupts the JSON of memos as it is stored in the agenda's rows.
struct MemoMutation {
  private static let mutation = Mutation([
    "{", "}", "[", "]", "\"", ":", ",", "null", "true", "0", "-1", "\"-\"", "1e300", "\\u0000",
    #""slots":{"r0":"- 0 - - - -"}"#, #""waiting":[]"#, "0.5", "[]", "{}",
  ])

  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "0", "-1", "1", "4611686018427387904",
    "9223372036854775808", "1800000000000000", "1800000000", "-",
  ]

  /// Returns the memo that is read back; nil if the service would report it as unreadable.
  func mutate(_ memo: Memo, _ chance: inout Chance) throws -> Memo? {
    var json = Array(memo.storedText.utf8)
    if json.count < 3 { json = Self.made(&chance) }
    for _ in 0..<chance.number(0...4) { replaceNumber(in: &json, &chance) }
    if chance.percent(30) { json = Self.mutation.mutate(json, &chance) }
    return try? Memo(storedText: String(decoding: json, as: UTF8.self))
  }

  /// Replaces one of the numbers with another one.
  private func replaceNumber(in json: inout [UInt8], _ chance: inout Chance) {
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    let from = chance.number(0...json.count)
    guard let start = json[from...].firstIndex(where: isDigit) else { return }
    let end = json[start...].firstIndex { !isDigit($0) } ?? json.endIndex
    json.replaceSubrange(start..<end, with: chance.pick(of: Self.numbers, else: "").utf8)
  }

  /// Returns a memo that no decision produces.
  private static func made(_ chance: inout Chance) -> [UInt8] {
    func number() -> String { chance.pick(of: numbers.dropLast(), else: "0") }
    let slots = ["r0", "r1", "card-customer", ""].map { rule in
      "\"\(rule)\":\"\((0..<5).map { _ in chance.percent(20) ? "-" : number() }.joined(separator: " ")) -\""
    }
    let id = "00000000-0000-8000-8000-00000000000\(chance.number(0...9))"
    let event = "{\"id\":\(number()),\"name\":\"done\",\"at\":\(number()),\"data\":\"{}\"}"
    let card = chance.percent(50) ? "\"card\":\"\(chance.number(0...3))\"," : ""
    let start = chance.percent(30) ? "\"startToken\":\(chance.number(0...3))," : ""
    let rule = chance.pick("r0", "r1", "card-customer", "gone")
    let entry = """
      {"id":"\(id)","event":\(event),"rule":"\(rule)","app":"customer","pushType":"alert",\(card)\(start)
      "status":"pending","attempts":\(number()),"phone":\(chance.number(0...3))}
      """
    let life = """
      {"since":\(number()),"lastEventAt":\(number()),"token":"c1c1c1c1","timestamp":\(number()),
      "number":\(number()),"isPending":false,"failures":\(number()),"urgentAt":[\(number())],"isUrgent":false,
      "isRefused":false,"isDismissed":false,"hasMatchedOwner":true,"staleAt":\(number()),"sentAt":\(number()),
      "shown":"x","cause":\(event),"alert":\(event)}
      """
    let isOpen = chance.percent(50)
    return Array(
      """
      {"slots":{\(slots.joined(separator: ","))},"cards":{"\(chance.number(0...3))":\(life)},
      "waiting":[{"entry":\(entry),"wait":{"for":"retry","due":\(number())}}],
      "starts":[\(chance.number(0...3)),{"entry":\(entry),"owner":"c","isOpen":\(isOpen)}]}
      """.utf8)
  }
}
