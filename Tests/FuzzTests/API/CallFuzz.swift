import Base
import RideCore
import Testing

@testable import AdminServer

/// No request body causes a trap.
@Suite struct `Fuzzing of calls` {
  @Test func `A body is taken whole, or refused with a code`() {
    Fuzz.run("calls", cases: 8000) { chance throws(Fuzz.Fault) in
      let seed = chance.pick(of: Self.bodies, else: [])
      let body =
        chance.percent(5)
        ? chance.bytes(upTo: 200) : chance.percent(5) ? seed : Self.mutation.mutate(seed, &chance)
      let isGood = (try? JSONParser.parse(body, depthLimit: APIBody.depthLimit)) != nil
      let call = chance.pick(of: APICall.all, else: APICall.contact)
      let result = Result { () throws(APIError) in
        var request = HTTPRequest(
          method: call.method, path: call.path, headers: ["content-type": "application/json"],
          body: body)
        for parameter in call.parameters { request.parameters[parameter.name] = "customer" }
        request.parameters["token"] = "ab"
        return try call.arguments(of: request, apps: [.customer, .driver])
      }
      switch result {
      case .success(let arguments):
        let isUnread = call.fields.isEmpty && body.isEmpty
        let names = (call.fields + call.parameters).map(\.name)
        try require(
          isGood || isUnread && Set(arguments.keys).isSubset(of: names), "\(body)")
      case .failure(let error):
        try require((1..<2000).contains(error.message.utf8.count), "\(error)")
      }
    }
  }

  @Test func `Good bodies are good`() throws {
    for body in Self.bodies { _ = try APIBody.members(of: body) }
  }

  private static let bodies: [[UInt8]] = [
    #"{"event":"driver_arrived","ride_id":"r1","data":{"a":[1,2.5,null,true,{"b":"\u00e9\ud83d\ude95"}]}}"#,
    #" { "app" : "customer" , "owner_id" : "u17" , "token" : "6f1d6f1d6f1d6f1d6f1d6f1d6f1d6f1d" } "#,
    #"{"ride_id":"r","app":"driver","owner_id":"d","token":"ab","activity_id":"x","frequent":false}"#,
    #"{"app":"customer","owner_id":"u"}"#, "{}",
    #"{"state":"x","participants":[{"app":"driver","owner_id":"d"},{"app":"customer","owner_id":"u"}]}"#,
    #"{"data":{"n":-0.0e-12,"m":123456789012345678901234567890,"s":"\\\/\b\f\n\r\t\""}}"#,
  ].map { Array($0.utf8) }

  private static let mutation = Mutation([
    "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u0000", "\\ud800", "\\udc00", "null", "tru",
    "1e999",
    "-", "01", ".5", "1.", "\u{0}", "\"event\":", "\"ride_id\":", "\"ride\\u005fid\":", "\u{feff}",
    "\u{7f}", " \n\t", "//", "NaN",
  ])
}
