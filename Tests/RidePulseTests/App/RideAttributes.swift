// The struct of the shipped card, as an app may write it by hand.
struct RideAttributes: Codable {
  struct ContentState: Codable, Hashable {
    var status: String
    var driverName: String?
    var vehicle: String?
    var plate: String?
    var etaEpoch: Int?
  }

  var rideId: String
}
