import RideCore

/// What is kept of a ride that has left the replay, because it may come back, such as for a tip.
struct RidePast {
  /// How often a person noticed something.
  struct Person {
    let owner: PhoneOwner
    var rang = 0
    var lit = 0
  }

  /// How far a phone has got with the limits.
  struct ScreenState {
    var counts = ScreenLimitCheck.Counts()
    /// A limit counts once for each phone and ride.
    var broken: [ScreenLimit.Kind] = []

    var isNew: Bool { counts == ScreenLimitCheck.Counts() && broken.isEmpty }
  }

  // Lists, because they are short and there is one of each for every ride of a day.
  private var people: [Person] = []
  private var phones: [(id: Int64, state: ScreenState)] = []

  /// Adds what a person noticed; returns what was known of them, nil if nothing.
  mutating func add(_ count: AttentionCount, of owner: PhoneOwner) -> Person? {
    let known = people.firstIndex { $0.owner == owner }
    var person = known.map { people[$0] } ?? Person(owner: owner)
    person.rang += count.rang
    person.lit += count.lit
    guard let known else {
      people.append(person)
      return nil
    }
    defer { people[known] = person }
    return people[known]
  }

  /// - Parameter phone: `Phone.id`
  subscript(phone: Int64) -> ScreenState {
    get { phones.first { $0.id == phone }?.state ?? ScreenState() }
    set {
      phones.removeAll { $0.id == phone }
      if !newValue.isNew { phones.append((phone, newValue)) }
    }
  }
}
