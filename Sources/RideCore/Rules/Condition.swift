import Base
package import CEL

/// A rule's `if`: an expression in CEL about a ride, an event and a phone.
package struct Condition: Hashable, Sendable {
  /// The expression as it was written.
  package let text: String
  /// Whom the value depends on.
  let scope: Scope
  /// `remember`: columns of the ride and paths of attributes, alone or below `attributes`, whose values
  /// are kept when the rule fires, and read as `last`.
  package let remembered: [[String]]
  private let program: CELProgram

  /// - Parameters:
  ///   - remembered: paths of keys, none of which begins with another one.
  ///   - declared: the attributes that there are; nil allows any.
  ///   - states: the states that `ride.entered` may name; nil allows any.
  package init(
    _ text: String, remembering remembered: [[String]] = [], declared: DeclaredAttributes? = nil,
    states: [String]? = nil
  ) throws(CELProblem) {
    var environment = Self.environment
    environment.declare("last", .nullable(Self.memoryType(remembered, declared)))
    if let declared { environment.declare("ride.attributes", declared.celType) }
    if let states {
      let times = states.map { ($0, CELType.timestamp) }
      environment.declare("ride.entered", .object(Dictionary(times) { first, _ in first }))
    }
    program = try CELProgram(text, in: environment, result: .bool)
    scope = Scope(program)
    self.text = text
    self.remembered = remembered
  }

  private static func memoryType(
    _ remembered: [[String]], _ declared: DeclaredAttributes?
  ) -> CELType {
    if let declared {
      // A column is not an attribute, whatever the attributes are called.
      return declared.celType(of: remembered, columns: remembered.filter { column($0) != nil })
    }
    let keys = remembered.compactMap { path in path.first.map { ($0, CELType.dyn) } }
    return .object(Dictionary(keys) { first, _ in first })
  }

  /// The names that an expression may use; the order is that of `Variable`.
  package static let environment = CELEnvironment(
    [
      ("ride.id", .nullable(.string)), ("ride.state", .nullable(.string)),
      ("ride.customer_id", .nullable(.string)), ("ride.driver_id", .nullable(.string)),
      ("ride.pickup_at", .nullable(.timestamp)), ("ride.time_zone", .nullable(.string)),
      ("ride.updated_at", .nullable(.timestamp)), ("ride.attributes", .map(.string, .dyn)),
      ("event.name", .string), ("event.at", .timestamp), ("event.data", .dyn),
      ("phone.locale", .nullable(.string)), ("phone.environment", .string),
      ("phone.platform", .string), ("phone.contact", .nullable(.timestamp)),
      ("last", .nullable(.map(.string, .dyn))), ("now", .timestamp),
      ("ride.entered", .map(.string, .timestamp)),
      ("contact", .nullable(.timestamp)), ("me", .map(.string, .dyn)),
    ], functions: [CELHostFunction("share", [.string], result: .double)])

  enum Variable: Int {
    case rideID, state, customerID, driverID, pickupAt, timeZone, updatedAt, attributes
    case eventName, eventAt, eventData
    case locale, environment, platform, phoneContact, last, now
    case entered, contact, me

    fileprivate static let ofPhone: [Variable] = [.locale, .environment, .platform, .phoneContact]
    /// Those that may differ from person to person, as the functions do.
    fileprivate static let ofPerson: [Variable] = [.contact, .me]
  }

  /// Whom the value of a condition depends on: it is decided once for an event, for each of its
  /// people, or for each of their phones.
  package enum Scope: Hashable, Sendable {
    case event, person, phone

    fileprivate init(_ program: CELProgram) {
      func reads(_ variables: [Variable]) -> Bool {
        variables.contains { program.variables.contains($0.rawValue) }
      }
      let isOfPerson = reads(Variable.ofPerson) || !program.functions.isEmpty
      self = reads(Variable.ofPhone) ? .phone : isOfPerson ? .person : .event
    }
  }

  /// Whether its value may differ from phone to phone.
  package var readsPhone: Bool { scope == .phone }

  /// Whether it reads when the phone was last in contact.
  package var readsPhoneContact: Bool { reads(.phoneContact) }

  /// Whether it reads when the owner was last in contact.
  package var readsContact: Bool { reads(.contact) }

  /// Whether it reads a value of the ride.
  package var readsRide: Bool {
    [
      Variable.rideID, .state, .customerID, .driverID, .pickupAt, .timeZone, .updatedAt,
      .attributes, .entered,
    ].contains { reads($0) }
  }

  /// Whether it reads when the ride entered a state.
  package var readsEntries: Bool { reads(.entered) }

  /// Whether it reads the attributes of a participant.
  package var readsMe: Bool { reads(.me) }

  /// Whether it reads what the rule remembered.
  package var readsLast: Bool { reads(.last) }

  /// The attributes, the event data and the attributes of participants that it reads, in the order of
  /// its text.
  package var uses: (attributes: [CELUse], eventData: [CELUse], me: [CELUse]) {
    let uses = program.uses
    return (
      uses.filter { $0.variable == Variable.attributes.rawValue },
      uses.filter { $0.variable == Variable.eventData.rawValue },
      uses.filter { $0.variable == Variable.me.rawValue }
    )
  }

  private func reads(_ variable: Variable) -> Bool {
    program.variables.contains(variable.rawValue)
  }

  /// Returns why the rule does not fire; nil if the condition holds.
  ///
  /// - Parameter work: what the conditions of the decision may still cost together.
  func failure(with inputs: Inputs, _ work: inout CELWork) -> LedgerReason? {
    do {
      switch try program.value(with: inputs, &work) {
      case .bool(true): return nil
      case .bool(false): return .conditionFalse
      case let other:
        return .conditionError("it gives a value of type \(other.typeName.word), not bool")
      }
    } catch {
      return .conditionError(error.text)
    }
  }

  /// Returns the values to remember as a JSON object; a missing one is null.
  func memory(of context: TemplateContext) -> [UInt8] {
    var memory = JSONValue.object([:])
    for path in remembered {
      let keys = path.first == "attributes" ? Array(path.dropFirst()) : path
      let value =
        Self.column(path).map { context.remembered($0) } ?? context.attributes?.value(at: keys)
      memory.set(value ?? .null, at: path[...])
    }
    return memory.json
  }

  /// Returns what was remembered, as `if` reads it: times of the ride are times again.
  func value(of memory: String) -> CELValue {
    guard let json = JSONValue(json: memory.utf8) else { return .null }
    guard case .object(let members) = json,
      remembered.contains(where: { Self.column($0)?.isTime == true })
    else { return CELValue(json) }
    var table = CELTable()
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      var read = CELValue(value)
      if Self.column([key])?.isTime == true, case .integer(let microseconds) = value {
        read = CELValue(Timestamp(microseconds: microseconds))
      }
      try? table.add(.string(key), read)
    }
    return .map(.table(table))
  }

  /// The column of the ride that an entry of `remember` names; nil for an attribute.
  private static func column(_ path: [String]) -> Placeholder.RideField? {
    path.count == 1 ? Placeholder.RideField(rawValue: path[0]) : nil
  }

  /// The size of what a rule may remember of a ride, in bytes: it is in the ride's agenda row, which
  /// each settlement writes.
  static let memoryLimit = 4096

  package static func == (left: Condition, right: Condition) -> Bool {
    left.text == right.text && left.remembered == right.remembered
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
    hasher.combine(remembered)
  }
}

extension TemplateContext {
  /// Returns the value of a column as it is remembered: a time with all of its microseconds.
  fileprivate func remembered(_ column: Placeholder.RideField) -> JSONValue {
    guard hasRide else { return .null }
    switch column {
    case .id: return .string(ride.id.text)
    case .state: return ride.state.map { .string($0) } ?? .null
    case .customerID: return ride.customerID.map { .string($0.text) } ?? .null
    case .driverID: return ride.driverID.map { .string($0.text) } ?? .null
    case .timeZone: return .string(ride.timeZone)
    case .pickupAt: return ride.pickupAt.map { .integer($0.microseconds) } ?? .null
    case .updatedAt: return ride.updatedAt.map { .integer($0.microseconds) } ?? .null
    }
  }
}

extension Placeholder.RideField {
  fileprivate var isTime: Bool { self == .pickupAt || self == .updatedAt }
}

extension LedgerReason {
  package static let conditionFalse = LedgerReason(.conditionFalse, "if is false")

  static func conditionError(_ text: String) -> LedgerReason {
    LedgerReason(.conditionError, "if: \(text)".brief(bytes: 300))
  }
}

extension JSONValue {
  /// Sets a value below this one, which is an object.
  fileprivate mutating func set(_ value: JSONValue, at path: ArraySlice<String>) {
    guard let key = path.first, case .object(var members) = self else { return }
    if path.count == 1 {
      members[key] = value
    } else {
      var inner = members[key] ?? .object([:])
      inner.set(value, at: path.dropFirst())
      members[key] = inner
    }
    self = .object(members)
  }
}
