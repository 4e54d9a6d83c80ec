import Base
import RideCore
import Testing

@testable import PushClient

@Suite struct StreamTableTests {
  private func queued(_ push: Int, deadline: Int64) -> QueuedRequest<Int> {
    QueuedRequest(push: push, order: UInt64(push), deadline: MonotonicTime(nanoseconds: deadline))
  }

  @Test("The earliest deadline is found in whatever order streams open and close")
  func order() {
    var random = SeededGenerator(seed: 7)
    var table = StreamTable<Int>()
    var model: [Int: (id: Int32, deadline: Int64)] = [:]
    for round in 0..<3000 {
      if model.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
        let slot = table.reserve()
        let deadline = Int64.random(in: 0..<1000, using: &random)
        table.fill(slot, with: queued(round, deadline: deadline), id: Int32(round), at: .now())
        model[slot] = (Int32(round), deadline)
      } else if let slot = model.keys.randomElement(using: &random), let entry = model[slot] {
        #expect(table.remove(slot, id: entry.id + 1)?.queued.push == nil, "another stream's number")
        #expect(table.remove(slot, id: entry.id)?.queued.push == Int(entry.id))
        model[slot] = nil
      }
      #expect(table.count == model.count)
      #expect(table.firstDue?.deadline.nanoseconds == model.values.map(\.deadline).min())
      #expect(Set(table.used) == Set(model.keys))
    }
  }
}
