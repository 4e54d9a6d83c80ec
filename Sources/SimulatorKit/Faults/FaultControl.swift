/// The faults in force, and the calls of tests that read and change them.
package struct FaultControl {
  private let reader: FaultReader
  private var faults = FaultSet()

  package init(_ reader: FaultReader) {
    self.reader = reader
  }

  /// Puts the faults of a file into force; if they are wrong, the old ones stay.
  package mutating func read(file path: String) throws {
    faults = FaultSet(try reader.read(file: path))
  }

  package var isEmpty: Bool { faults.isEmpty }
  package var count: Int { faults.count }

  /// Returns the fault that strikes a request.
  package mutating func strike(_ subject: FaultSubject) -> Fault? { faults.strike(subject) }

  /// Returns whether a fault strikes a new connection, which then begins without SETTINGS.
  package mutating func strike(connection: Int) -> Bool {
    !isEmpty && faults.strike(FaultSubject(connection: connection, values: nil)) != nil
  }

  /// Executes a call such as `POST /simulator/faults`; returns nil for any other.
  package mutating func execute(_ call: String, _ body: [UInt8]) throws(FormatError) -> JSON? {
    switch call {
    case "GET /simulator/faults": return .object(["faults": faults.json])
    case "POST /simulator/faults": faults = FaultSet(try reader.read(text: body))
    case "DELETE /simulator/faults": faults = FaultSet()
    default: return nil
    }
    return .object(["faults": .integer(faults.count)])
  }
}
