import Base
import CEL

extension Condition {
  /// What a condition is evaluated for.
  ///
  /// An object, because copying the row of a ride costs more than most conditions.
  final class Inputs: CELInputs {
    private let context: TemplateContext
    private let subject: Subject
    private let contact: Timestamp?
    private let defaultEnvironment: APNsEnvironment
    private let last: CELValue
    private let now: Timestamp

    /// - Parameters:
    ///   - contact: the last contact of the person, if the condition reads it.
    ///   - last: what the rule remembered when it last fired; null if it never did.
    init(
      context: TemplateContext, subject: Subject, contact: Timestamp?,
      defaultEnvironment: APNsEnvironment, last: CELValue, now: Timestamp
    ) {
      self.context = context
      self.subject = subject
      self.contact = contact
      self.defaultEnvironment = defaultEnvironment
      self.last = last
      self.now = now
    }

    package func value(of variable: Int) -> CELValue {
      let (ride, phone) = (context.ride, subject.phone)
      switch Variable(rawValue: variable) {
      // An event about no ride has a ride's place in the store, and no value of one.
      case .rideID where !context.hasRide, .timeZone where !context.hasRide: return .null
      case .rideID: return .string(ride.id.text)
      case .state: return CELValue(ride.state)
      case .customerID: return CELValue(ride.customerID?.text)
      case .driverID: return CELValue(ride.driverID?.text)
      case .pickupAt: return CELValue(ride.pickupAt)
      case .timeZone: return .string(ride.timeZone)
      case .updatedAt: return CELValue(ride.updatedAt)
      case .attributes: return CELValue(context.attributes ?? .null)
      case .eventName: return .string(context.event.name)
      case .eventAt: return CELValue(context.event.at)
      case .eventData: return CELValue(context.data ?? .null)
      case .locale: return CELValue(phone?.locale)
      // FCM has no test builds: `phone.environment == 'production'` includes Android.
      case .environment where phone?.platform == .android: return .string("production")
      case .environment:
        return .string((phone?.environment ?? defaultEnvironment).rawValue)
      case .platform: return .string((phone?.platform ?? .ios).rawValue)
      case .phoneContact: return CELValue(phone?.contactedAt)
      case .last: return last
      case .now: return CELValue(now)
      case .entered: return context.entries
      case .contact: return CELValue(contact)
      case .me:
        return CELValue(context.addressed(to: subject.owner, in: subject.app).me)
      case nil: return .null
      }
    }

    package func value(
      ofFunction function: Int, _ arguments: [CELValue]
    ) throws(CELFault) -> CELValue {
      guard case .string(let name)? = arguments.first else {
        throw .noOverload("share", arguments.map(\.typeName))
      }
      guard let owner = subject.owner else { throw .noPerson }
      return .double(OwnerShare.of(owner, named: name))
    }
  }

  /// Whom a condition is decided for, as far as its scope goes.
  struct Subject {
    var app: App
    /// Nil if the event concerns no person of the app.
    var owner: OwnerID?
    var phone: Phone?
  }
}

extension TemplateContext {
  /// When the ride entered its states, as `if` reads it.
  fileprivate var entries: CELValue {
    var table = CELTable()
    for (state, at) in ride.entered { try? table.add(.string(state), CELValue(at)) }
    return .map(.table(table))
  }
}
