internal import CLibpq

/// The answer to one call, read straight from libpq's memory; freed with the last reference.
///
/// A row or column outside the range reads as nil, as NULL does.
@safe package final class QueryResult: @unchecked Sendable {
  // Unchecked: libpq has finished writing before the handle comes here, and it is only read since.
  private let handle: OpaquePointer

  /// Takes over a result, and frees it at the end.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQclear(handle)
  }

  /// The number of rows that came back.
  package var rowCount: Int { unsafe Int(PQntuples(handle)) }

  /// The number of columns of each row.
  package var columnCount: Int { unsafe Int(PQnfields(handle)) }

  /// The rows that an INSERT, UPDATE, DELETE or SELECT touched; 0 for other commands.
  package var affectedRows: Int {
    unsafe PQcmdTuples(handle).flatMap { unsafe Int(String(cString: $0)) } ?? 0
  }

  /// The position of the column of exactly this name.
  package func column(named name: String) -> Int? {
    let index = unsafe PQfnumber(handle, "\"\(name)\"")
    return index < 0 ? nil : Int(index)
  }

  /// The value as text; nil where it is NULL.
  package func string(_ row: Int, _ column: Int) -> String? {
    unsafe withBytes(row, column) { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The value as a number; nil where it is NULL, no whole decimal number or too large.
  package func int64(_ row: Int, _ column: Int) -> Int64? {
    unsafe withBytes(row, column) { unsafe Self.parseInteger($0.span) } ?? nil
  }

  /// The value as a floating-point number; nil where it is NULL or no number.
  package func double(_ row: Int, _ column: Int) -> Double? {
    string(row, column).flatMap { Double($0) }
  }

  /// The value of a boolean column; nil where it is NULL or anything but `t` and `f`.
  package func bool(_ row: Int, _ column: Int) -> Bool? {
    let value = unsafe withBytes(row, column) { unsafe $0.count == 1 ? $0.first : nil } ?? nil
    return switch value {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  var status: ExecStatusType { unsafe PQresultStatus(handle) }

  var statusName: String {
    unsafe PQresStatus(status).map { unsafe String(cString: $0) } ?? "an unknown state"
  }

  /// One field of an error report, by its `PG_DIAG_…` code.
  func errorField(_ code: Int32) -> String? {
    unsafe PQresultErrorField(handle, code).map { unsafe String(cString: $0) }
  }

  /// What libpq itself says about a failed result, where the server said nothing.
  var errorMessage: String {
    unsafe PQresultErrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
  }

  private func withBytes<R>(
    _ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R? {
    guard row >= 0, row < rowCount, column >= 0, column < columnCount else { return nil }
    let (row, column) = (Int32(row), Int32(column))
    guard unsafe PQgetisnull(handle, row, column) == 0,
      let start = unsafe PQgetvalue(handle, row, column)
    else { return nil }
    let count = unsafe Int(PQgetlength(handle, row, column))
    return unsafe start.withMemoryRebound(to: UInt8.self, capacity: count) {
      unsafe body(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// Digits straight from the bytes: a `String` in between would allocate for each instant read.
  private static func parseInteger(_ bytes: Span<UInt8>) -> Int64? {
    let isNegative = !bytes.isEmpty && bytes[0] == UInt8(ascii: "-")
    let digits = (isNegative ? 1 : 0)..<bytes.count
    if digits.isEmpty { return nil }
    var value: Int64 = 0
    for index in digits {
      let digit = Int64(bytes[index]) - Int64(UInt8(ascii: "0"))
      guard (0...9).contains(digit) else { return nil }
      let (shifted, tooLarge) = value.multipliedReportingOverflow(by: 10)
      // Counted downwards, because the smallest number has no positive twin.
      let (next, tooSmall) = shifted.subtractingReportingOverflow(digit)
      if tooLarge || tooSmall { return nil }
      value = next
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }
}
