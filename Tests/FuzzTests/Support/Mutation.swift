/// Corrupts bytes as a cut connection, a bad disk or an attacker would.
struct Mutation {
  /// The significant pieces of the format under test, inserted at random places.
  var pieces: [[UInt8]]

  init(_ pieces: [String]) { self.pieces = pieces.map { Array($0.utf8) } }

  init(_ pieces: [[UInt8]] = []) { self.pieces = pieces }

  /// Changes a few places.
  func mutate(_ bytes: [UInt8], _ chance: inout Chance, times: ClosedRange<Int> = 1...4) -> [UInt8]
  {
    var bytes = bytes
    for _ in 0..<chance.number(times) { mutateOnce(&bytes, &chance) }
    return bytes
  }

  private func mutateOnce(_ bytes: inout [UInt8], _ chance: inout Chance) {
    let start = chance.number(0...bytes.count)
    let end = min(bytes.count, start + chance.number(0...7))
    let piece = chance.pick(of: pieces, else: [])
    switch chance.number(0...9) {
    case 0: bytes.removeSubrange(start..<end)
    case 1: bytes.replaceSubrange(start..<end, with: piece)
    case 2, 3: bytes.insert(contentsOf: piece, at: start)
    case 4: bytes.insert(chance.number(0...255), at: start)
    case 5: if start < bytes.count { bytes[start] = chance.number(0...255) }
    case 6: if start < bytes.count { bytes[start] ^= 1 << chance.number(0...7) }
    case 7: bytes.insert(contentsOf: bytes[start..<end], at: start)
    case 8 where chance.percent(30): bytes.removeSubrange(start...)
    case 9 where chance.percent(30):
      for _ in 0..<chance.number(1...100) { bytes.insert(contentsOf: piece, at: start) }
    default: break
    }
  }
}
