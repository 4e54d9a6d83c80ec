import Foundation
import LocalStack

/// Measures parts in rounds: each round measures every build once, between two runs of the
/// yardstick.
struct BenchRounds {
  /// A folder with `ridepulse`, `ridepulse-bench` and the simulators of one commit.
  private struct Build {
    let name: String
    let folder: String
    let isOwn: Bool
  }

  /// One measurement of a part.
  private struct Sample {
    let figures: [Figure]
    /// The microseconds of CPU that h2load needed for a push before and after it.
    let unit: Double
  }

  private let builds: [Build]
  private let rounds: Int
  private let yardstick: Yardstick

  init(_ arguments: BenchArguments, yardstick: Yardstick) throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folder = URL(fileURLWithPath: own).deletingLastPathComponent().path
    var builds = [Build(name: "this", folder: folder, isOwn: true)]
    if let program = arguments.against {
      let other = URL(fileURLWithPath: program).deletingLastPathComponent()
      builds.append(Build(name: other.lastPathComponent, folder: other.path, isOwn: false))
    }
    self.builds = builds
    rounds = arguments.rounds
    self.yardstick = yardstick
  }

  func measure(_ part: SampledPart) throws {
    var samples: [[Sample]] = builds.map { _ in [] }
    var units: [Double] = []
    for round in 0..<rounds {
      // Every second round in the other order: what comes second finds warmer caches.
      let order = round.isMultiple(of: 2) ? Array(builds.indices) : builds.indices.reversed()
      for index in order {
        let before = try yardstick.measure().cost
        guard let figures = try sample(part, of: builds[index]) else { continue }
        let unit = (before + (try yardstick.measure().cost)) / 2
        samples[index].append(Sample(figures: figures, unit: unit))
        units.append(unit)
      }
    }
    show(samples, units)
  }

  /// Measures a part of a build in a process of its own; nil if that build cannot.
  ///
  /// A commit that does not know `--sample` is measured by this one's program, if the part consists
  /// of `ridepulse` alone.
  private func sample(_ part: SampledPart, of build: Build) throws -> [Figure]? {
    let environment = ProcessInfo.processInfo.environment
    if build.isOwn || part != .engine {
      return try run(build.folder + "/ridepulse-bench", part, environment, mayFail: !build.isOwn)
    }
    return try run(
      builds[0].folder + "/ridepulse-bench", part,
      environment.merging([ServiceProcess.variable: build.folder + "/ridepulse"]) { $1 },
      mayFail: false)
  }

  private func run(
    _ program: String, _ part: SampledPart, _ environment: [String: String], mayFail: Bool
  ) throws -> [Figure]? {
    let folder = URL(fileURLWithPath: program).deletingLastPathComponent().path
    let needed = [program] + part.simulators.map { folder + "/" + $0 }
    for file in needed where !FileManager.default.isExecutableFile(atPath: file) {
      if mayFail { return nil }
      throw BenchFailure(text: "no \(file)")
    }
    let output = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: output) }
    let process = try ChildProcess(
      [program, "--sample", part.rawValue], environment: environment, output: .log(output))
    process.waitForEndBlocking()
    let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
    if process.ending?.status == 0, process.ending?.isSignal == false {
      return try JSONDecoder().decode([Figure].self, from: Data(text.utf8))
    }
    if mayFail, process.ending?.status == BenchFailure.usage { return nil }
    throw BenchFailure(text: "\(part.rawValue) of \(program) failed: \(text)")
  }

  // MARK: Medians

  private func show(_ samples: [[Sample]], _ units: [Double]) {
    guard let first = samples.first?.first else { return }
    var group = ""
    for (index, figure) in first.figures.enumerated() {
      if figure.group != group {
        group = figure.group
        Figures.head("\(group); medians of \(rounds) (least–most)")
        if builds.count > 1 {
          Figures.row("", Self.columns(builds.map(\.name) + ["ratio"]))
        }
      }
      let columns = samples.map { Self.values(of: figure, at: index, in: $0) }
      let unit = figure.unit == .pushes ? ", u" : ""
      var cells = columns.map { Spread($0)?.text(figure.digits) ?? figure.absence ?? "none" }
      if columns.count > 1, columns[1].count == columns[0].count {
        let ratios = zip(columns[0], columns[1]).compactMap { $1 == 0 ? nil : $0 / $1 }
        if let ratio = Spread(ratios) { cells.append(ratio.text(2)) }
      }
      Figures.row(figure.name + unit, Self.columns(cells), goal: figure.goal)
    }
    if let unit = Spread(units) {
      Figures.row("u: CPU of h2load, µs a push", unit.text(2))
    }
  }

  private static func columns(_ cells: [String]) -> String {
    cells.map { Figures.wide($0, 24) }.joined()
  }

  /// The values of one figure in all samples of a build, in the unit that it is shown in.
  private static func values(of figure: Figure, at index: Int, in samples: [Sample]) -> [Double] {
    samples.compactMap { sample in
      guard sample.figures.indices.contains(index), sample.figures[index].name == figure.name
      else { return nil }
      let value = sample.figures[index].value
      return figure.unit == .pushes ? value.map { $0 / sample.unit } : value
    }
  }
}
