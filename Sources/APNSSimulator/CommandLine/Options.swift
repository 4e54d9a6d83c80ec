/// The parsed command line.
struct Options: Equatable, Sendable {
  var port: UInt16 = 2197
  var stateDirectory = "./.apns-simulator"
  var isSink = false
  var teamID = "SIMTEAM001"
  var keyID = "SIMKEY0001"
  var bundleIDs: Set<String> = ["com.example.customer", "com.example.driver"]
  var environment = Environment.production
  var channelLimit = 10_000
  var appsWithoutBroadcast: Set<String> = []
  var faultsPath: String?
  var initialStreams = 1
  var maximumStreams = 1000
  var latencyMilliseconds = 0
  var isQuiet = false
  var exitsWithStandardInput = false
}
