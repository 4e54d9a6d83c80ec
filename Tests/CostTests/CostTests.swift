import Foundation
import PostgresStore
import RideCore
import Testing

@testable import Cost

@Suite struct CostTests {
  @Test(arguments: Work.allCases)
  func aPathDoesWhatItIsToMeasure(work: Work) throws {
    try work.run(2, rules: Self.rules)
  }

  @Test func aReplayedClaimGivesTheViewsThatItWasMadeOf() throws {
    let scene = Scene(rules: try Work.rules(in: Self.rules), androidApps: [.customer])
    let views = [
      scene.arrived(1), scene.waitingFee(), scene.heartbeat(), scene.cardUpdate(),
      scene.nothingDue(), scene.arrivedOnAndroid(), scene.androidCardUpdate(),
    ].enumerated().map { Self.renamed($1.view, "ride-\($0)") }
    let replay = try ClaimReplay(
      views, at: Scene.start, apps: scene.configuration.rules.apps,
      rules: scene.configuration.rules)
    #expect(replay.claim().rides.map(\.view) == views)
    #expect(replay.claim().now == Scene.start)
  }

  @Test func aProfileCountsCallsOfAllocators() throws {
    let profile = try CallgrindProfile(
      """
      events: Ir
      fn=(1) main
      0 12
      cfn=(2) malloc
      calls=3 0
      0 300
      cfn=(3) free
      calls=3 0
      0 90
      fn=(4) other
      cfn=(2)
      calls=2 0
      0 200
      cfn=(5) calloc
      calls=1 0
      0 99
      fn=(2) malloc
      0 500
      totals: 1201
      """)
    #expect(profile.instructions == 1201)
    #expect(profile.allocations == 6)
    #expect(throws: CostFailure.self) { try CallgrindProfile("events: Ir\n") }
  }

  @Test func pathsWithAndroidPhonesSendMessagesToFCM() throws {
    let scene = Scene(rules: try Work.rules(in: Self.rules), androidApps: [.customer])
    let kinds = [scene.arrivedOnAndroid(), scene.androidCardUpdate()].map { moment in
      decide(moment.view, by: scene.configuration, now: moment.now).pushes.map(\.request.network)
    }
    #expect(kinds == [[.android], [.android]])
  }

  @Test func eachPathHasARecordedCost() throws {
    let recorded = try CostFigures(String(contentsOfFile: Self.recorded, encoding: .utf8))
    #expect(Set(recorded.costs.keys) == Set(Work.allCases.map(\.rawValue)))
  }

  @Test func figuresAreReadAsTheyWereWritten() throws {
    var figures = CostFigures(toolchain: "Swift 9, glibc 3")
    figures.costs = ["decide-alert": Cost(instructions: 12_345, allocations: 6.25)]
    #expect(try CostFigures(figures.text) == figures)
    #expect(throws: CostFailure.self) { try CostFigures("decide-alert\tmany\t3") }
  }

  @Test(arguments: [
    (10_200, 20.5, false), (10_201, 20.0, true), (10_000, 20.51, true), (9000, 10.0, false),
  ])
  func aPathIsOverIfItGainedMoreThanItMay(
    instructions: Double, allocations: Double, isOver: Bool
  ) {
    var (old, new) = (CostFigures(toolchain: "a"), CostFigures(toolchain: "a"))
    old.costs["decide-alert"] = Cost(instructions: 10_000, allocations: 20)
    new.costs["decide-alert"] = Cost(instructions: instructions, allocations: allocations)
    let comparison = CostComparison(new, to: old)
    #expect(comparison.over == (isOver ? ["decide-alert"] : []))
    #expect(comparison.table.contains("OVER") == isOver)
    #expect(comparison.otherToolchain == nil)
  }

  @Test func figuresOfAnotherToolchainAreNotJudged() {
    let comparison = CostComparison(CostFigures(toolchain: "a"), to: CostFigures(toolchain: "b"))
    #expect(comparison.otherToolchain != nil)
  }

  private static let folder =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Sources/Cost"
  private static let rules = folder + "/Rules"
  private static let recorded = folder + "/recorded.tsv"

  private static func renamed(_ view: RideView, _ id: String) -> RideView {
    var view = view
    view.rideID = RideID(id)
    view.ride?.id = view.rideID
    return view
  }
}
