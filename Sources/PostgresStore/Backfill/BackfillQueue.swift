/// The rows that a backfill has left, and the size of its next batch.
///
/// A refused batch met a lock: smaller ones isolate the locked rows, which come last.
struct BackfillQueue<Row> {
  static var largest: Int { 200 }

  private var rows: ArraySlice<Row>
  private(set) var size = Self.largest

  init(_ rows: [Row]) { self.rows = rows[...] }

  var isEmpty: Bool { rows.isEmpty }

  /// The rows of the next batch, which stay in the queue until it is accepted.
  var next: [Row] { Array(rows.prefix(size)) }

  mutating func accept() {
    rows = rows.dropFirst(size)
    size = min(size * 2, Self.largest)
  }

  mutating func refuse() {
    if size == 1, let locked = rows.popFirst() { rows.append(locked) }
    size = max(min(size, rows.count) / 2, 1)
  }
}
