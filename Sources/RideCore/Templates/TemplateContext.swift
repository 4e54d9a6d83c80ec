package import Base
import Foundation

/// The source of placeholder values: one ride and one event.
struct TemplateContext {
  /// What all people and phones have in common, behind one reference: a decision passes contexts
  /// around, and a copy of ride and event costs twenty.
  private final class Shared: Sendable {
    let ride: Ride
    let event: RideEvent
    let now: Timestamp
    let attributes: JSONValue?
    let data: JSONValue?
    let hasRide: Bool
    let defaultZone: ZoneTimes?

    init(
      _ ride: Ride, _ event: RideEvent, now: Timestamp, _ attributes: JSONValue?,
      _ data: JSONValue?, hasRide: Bool, _ defaultZone: ZoneTimes?
    ) {
      self.ride = ride
      self.event = event
      self.now = now
      self.attributes = attributes
      self.data = data
      self.hasRide = hasRide
      self.defaultZone = defaultZone
    }
  }

  private let shared: Shared
  /// The participant whom the push addresses; nil for the ride's own customer and driver.
  private(set) var person: Participant?
  /// The zone that the phone has registered, for which texts are made; nil for none.
  private var phoneZone: String?

  var ride: Ride { shared.ride }
  var event: RideEvent { shared.event }
  /// When the push is decided: what `relative` counts from.
  var now: Timestamp { shared.now }
  /// Nil if they are unreadable.
  var attributes: JSONValue? { shared.attributes }
  /// The event's data; nil if it is unreadable.
  var data: JSONValue? { shared.data }
  /// False for an event about no ride: then no value of a ride is there.
  var hasRide: Bool { shared.hasRide }

  /// Parses the event's data once for all rules and phones; the ride's attributes come parsed.
  ///
  /// - Parameters:
  ///   - now: the time of the event by default.
  ///   - defaultZone: `defaults.time-zone`.
  init(
    ride: Ride, attributes: JSONValue?, event: RideEvent, now: Timestamp? = nil,
    hasRide: Bool = true, defaultZone: ZoneTimes? = nil
  ) {
    let data = event.data == "{}" ? .object([:]) : JSONValue(json: event.data.utf8)
    shared = Shared(
      ride, event, now: now ?? event.at, attributes, data, hasRide: hasRide, defaultZone)
  }

  /// Returns the context of pushes to one person.
  func addressed(to owner: OwnerID?, in app: App) -> TemplateContext {
    guard let owner, !ride.participants.isEmpty else { return self }
    var context = self
    context.person = ride.participants.first { $0.isPerson(owner, app) }
    return context
  }

  /// The attributes of the person whom the push addresses; an empty object for all but participants.
  var me: JSONValue {
    guard let person, case .object(let members)? = JSONValue(json: person.attributes.utf8) else {
      return .object([:])
    }
    return .object(members)
  }

  /// Returns the context of the same event for one phone.
  func on(_ phone: PhoneTexts) -> TemplateContext {
    var context = self
    context.phoneZone = phone.timeZone
    return context
  }

  /// Returns the zone of times and of quiet hours.
  func clock(_ owner: WallClock.Owner) -> WallClock {
    WallClock(owner, of: hasRide ? ride : nil, phone: phoneZone, otherwise: shared.defaultZone)
  }

  /// Returns the ledger's reason of a text whose times are in other zones than they were to be.
  func doubt(about clocks: Set<WallClock.Owner>) -> LedgerReason? {
    for owner in [WallClock.Owner.ride, .phone] where clocks.contains(owner) {
      if let doubt = clock(owner).doubt { return doubt }
    }
    return nil
  }

  /// Returns a value of the ride's attributes; nil also if the attributes are unreadable.
  func attribute(_ key: String) -> JSONValue? { attributes?[key] }

  /// Returns a value of the event's data; nil also if the data is unreadable.
  func datum(_ key: String) -> JSONValue? { data?[key] }

  /// Returns the value of a placeholder after its filters.
  ///
  /// - Parameter formats: how times and numbers are written; a program's by default.
  func value(
    of placeholder: Placeholder, in formats: LocaleFormats = .neutral
  ) throws(RenderingError) -> JSONValue {
    var value = try raw(placeholder)
    var instant = instant(placeholder.source)
    var zone: ZoneTimes?
    var missing = placeholder
    for filter in placeholder.filters {
      switch filter {
      case .fallback(let fallback):
        if value == nil || value == .null || value == .string("") {
          value = fallback
          instant = nil
        }
      case .time, .date, .weekday, .relative, .epoch:
        guard value != nil, value != .null else { continue }
        guard let time = instant ?? value.flatMap(Self.instant(from:)) else {
          throw .notATime(placeholder.path, value ?? .null)
        }
        value = written(time, by: filter, in: formats, zone ?? clock(.ride).zone)
        instant = nil
      case .zone(let own): zone = own
      case .phoneZone: zone = clock(.phone).zone
      case .select(let forms) where value != .null:
        value = value.map { .string(forms.form(of: $0.text)) }
      case .currency(.path(let code), _) where try isMissing(code):
        // An amount without its currency is as good as none, and a default may follow.
        if value != nil, value != .null { missing = code }
        value = nil
      case .int, .currency, .plural:
        guard let number = value, number != .null else { continue }
        value = try written(number, by: filter, placeholder.path, in: formats)
      case .upper where value != .null: value = value.map { .string($0.text.uppercased()) }
      case .lower where value != .null: value = value.map { .string($0.text.lowercased()) }
      case .upper, .lower, .select: continue
      }
    }
    if value == .null, placeholder.isNullable { return .null }
    guard let value, value != .null else { throw .missing(missing.path) }
    return value
  }

  private func isMissing(_ placeholder: Placeholder) throws(RenderingError) -> Bool {
    let value = try raw(placeholder)
    return value == nil || value == .null
  }

  /// Returns the value of a placeholder before its filters; nil if there is none.
  func raw(_ placeholder: Placeholder) throws(RenderingError) -> JSONValue? {
    switch placeholder.source {
    case .eventName: return .string(event.name)
    case .attributes(let keys):
      guard let attributes else { throw .unreadable("ride.attributes") }
      return attributes.value(at: keys)
    case .eventData(let keys):
      guard let data else { throw .unreadable("event.data") }
      return data.value(at: keys)
    case .me(let keys): return me.value(at: keys)
    case .ride where !hasRide: return nil
    case .ride(let field):
      switch field {
      case .id: return .string(ride.id.text)
      case .state: return ride.state.map { .string($0) }
      case .customerID: return ride.customerID.map { .string($0.text) }
      case .driverID: return ride.driverID.map { .string($0.text) }
      case .timeZone: return .string(ride.timeZone)
      case .pickupAt, .updatedAt: break
      }
    case .eventTime, .entered: break
    }
    return instant(placeholder.source).map { .string(CivilTime.iso($0)) }
  }

  private func instant(_ source: Placeholder.Source) -> Timestamp? {
    switch source {
    case .eventTime: event.at
    case .ride(.pickupAt): ride.pickupAt
    case .ride(.updatedAt): ride.updatedAt
    case .entered(let state): ride.entered[state]
    default: nil
    }
  }

  /// Converts seconds since 1970, or ISO 8601 text, to a time; nil for anything else.
  static func instant(from value: JSONValue) -> Timestamp? {
    switch value {
    // Larger numbers are milliseconds.
    case .integer(let seconds) where CivilTime.seconds.contains(seconds):
      Timestamp(epochSeconds: seconds)
    case .number(let seconds)
    where seconds >= Double(CivilTime.seconds.lowerBound)
      && seconds <= Double(CivilTime.seconds.upperBound):
      Timestamp(epochSeconds: Int64(seconds))
    case .string(let text): CivilTime.instant(iso: text)
    default: nil
    }
  }

  private func written(
    _ time: Timestamp, by filter: Filter, in formats: LocaleFormats,
    _ zone: @autoclosure () -> ZoneTimes
  ) -> JSONValue {
    if filter == .epoch { return .integer(time.epochSeconds) }
    if filter == .relative { return .string(formats.relative(time, to: now)) }
    let zone = zone()
    switch filter {
    case .time: return .string(formats.time(time, in: zone))
    case .weekday: return .string(formats.weekday(time, in: zone))
    default: return .string(formats.date(time, in: zone))
    }
  }

  private func written(
    _ value: JSONValue, by filter: Filter, _ path: String, in formats: LocaleFormats
  ) throws(RenderingError) -> JSONValue {
    let error = RenderingError.notANumber(path, value)
    if filter == .int {
      guard let number = value.truncated else { throw error }
      return .integer(number)
    }
    guard let number = value.decimal else { throw error }
    switch filter {
    case .currency(let source, let inMinorUnits):
      let code = try currency(source)
      let amount = inMinorUnits ? CurrencyCode.amount(ofMinorUnits: number, code) : number
      return .string(formats.currency(amount, code))
    case .plural(let forms):
      let form = forms.form(of: "\(number)", by: formats.plurals)
      return .string(form.replacing("#", with: formats.number(number)))
    default: return value
    }
  }
}

extension TemplateContext {
  /// Returns the code of a currency; payment services write some in lower case.
  private func currency(_ source: CurrencyCode) throws(RenderingError) -> String {
    switch source {
    case .code(let code): return code
    case .path(let path):
      let value = try value(of: path)
      let code = value.text.uppercased()
      guard FoundationFormats.currencies.contains(code) else {
        throw .notACurrency(path.path, value)
      }
      return code
    }
  }
}

extension JSONValue {
  /// The value as part of a text.
  package var text: String {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    default: String(decoding: json, as: UTF8.self)
    }
  }
}
