import RideCore

/// A change that a ride service writes; a transaction has one or more.
enum Step: Sendable {
  /// Creates a ride, whose attributes name the driver.
  case request(customer: String, driver: String?, zone: String = "UTC")
  case state(String)
  /// Changes the estimated time of arrival.
  case eta(Int)
  /// Changes or removes the driver, and the state in the same UPDATE if one is given.
  case driver(String?, state: String? = nil)
  case emit(String, data: String)
  /// Emits this many events at once, half of them for a rule with a collapse ID.
  case burst(Int)
  /// Registers a phone; a new token of the same installation replaces the old one.
  case phone(
    app: String, owner: String, token: String, installation: String? = nil,
    locale: String? = nil, platform: Platform = .ios)
  /// Signs a phone out.
  case signOut(app: String, token: String)
  /// Sets one of the ride's attributes, or removes it.
  case attribute(String, String?)
  /// Inserts a row of an attached table, or updates its state.
  case booking(state: String, customer: String)
  /// Registers numbered phones of one owner.
  case phones(app: String, owner: String, numbers: ClosedRange<Int>)
  /// Reports a card's update token.
  case card(activity: String, owner: String, token: String, frequent: Bool)
  /// Reports a push-to-start token.
  case startToken(owner: String, token: String)

  /// The number of events that the step causes, without those of registered cards.
  var events: Int {
    switch self {
    case .request, .state, .eta, .driver, .emit, .attribute: 1
    case .burst(let count): count
    // How many events a booking makes depends on the triggers of its table.
    case .phone, .phones, .card, .startToken, .signOut, .booking: 0
    }
  }

  /// The data of an emitted event, which its pushes show.
  var text: String? {
    if case .emit("chat_message", let data) = self { data } else { nil }
  }
}
