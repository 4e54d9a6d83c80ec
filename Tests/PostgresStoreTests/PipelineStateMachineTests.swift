import Testing

@testable import PostgresStore

@Suite struct PipelineStateMachineTests {
  private typealias Reply = PipelineStateMachine.Reply
  private typealias Verdict = PipelineStateMachine.Verdict
  private static let one = Statement(name: "one", sql: "select 1")
  private static let bare = Statement(name: "", sql: "select 2")

  private func verdicts(_ pipeline: PipelineStateMachine, _ replies: [Reply]) -> [Verdict] {
    var pipeline = pipeline
    return replies.map { pipeline.receive($0) }
  }

  @Test func `a statement is prepared before its first use only`() {
    let calls = [Call(Self.one), Call(Self.bare), Call(Self.one)]
    let known = ["one": "select 1"]
    #expect(
      PipelineStep.plan(calls, known: [:], named: true)
        == [.prepare(Self.one), .executePrepared(0), .execute(1), .executePrepared(2)])
    #expect(
      PipelineStep.plan(calls, known: known, named: true)
        == [.executePrepared(0), .execute(1), .executePrepared(2)])
    #expect(
      PipelineStep.plan(calls, known: known, named: false)
        == [.execute(0), .execute(1), .execute(2)])
    #expect(
      PipelineStep.plan(calls, known: ["one": "select 'other'"], named: true).first
        == .prepare(Self.one), "a known name of another text is not trusted")
  }

  @Test func `results belong to calls, and the end comes with the sync`() {
    let pipeline = PipelineStateMachine(pipeline: [
      .prepare(Self.one), .executePrepared(0), .execute(1),
    ])
    #expect(
      verdicts(
        pipeline,
        [.success, .endOfStep, .success, .endOfStep, .success, .endOfStep, .sync])
        == [.prepared(Self.one), .goOn, .keep, .goOn, .keep, .goOn, .finished])
  }

  @Test func `after an error the rest is drained`() {
    let pipeline = PipelineStateMachine(pipeline: [.execute(0), .execute(1), .execute(2)])
    #expect(
      verdicts(
        pipeline,
        [.success, .endOfStep, .failure, .endOfStep, .aborted, .endOfStep, .sync])
        == [.keep, .goOn, .failed, .goOn, .goOn, .goOn, .finished])
  }

  @Test func `the commit itself may fail`() {
    #expect(
      verdicts(
        PipelineStateMachine(pipeline: [.execute(0)]),
        [.success, .endOfStep, .failure, .endOfStep, .sync])
        == [.keep, .goOn, .failed, .goOn, .finished])
  }

  @Test(
    arguments: [
      ("an end without a result", [.endOfStep]),
      ("two results for one step", [.success, .success]),
      ("a result after the last step", [.success, .endOfStep, .success]),
      ("the sync too early", [.sync]),
      ("aborted without an error", [.aborted]),
      ("something foreign", [.foreign("PGRES_COPY_OUT")]),
    ] as [(String, [PipelineStateMachine.Reply])])
  func `a server out of step is not believed`(
    problem: String, replies: [PipelineStateMachine.Reply]
  ) {
    let last = verdicts(PipelineStateMachine(pipeline: [.execute(0)]), replies).last
    guard case .broken = last else {
      Issue.record("\(problem): got \(String(describing: last))")
      return
    }
  }

  @Test func `a script ends when nothing more comes`() {
    #expect(
      verdicts(.script, [.success, .success, .endOfStep]) == [.goOn, .goOn, .finished])
    #expect(verdicts(.script, [.success, .failure, .endOfStep]) == [.goOn, .failed, .finished])
    #expect(verdicts(.script, [.sync]) == [.broken("a pipeline reply to a script")])
  }

  @Test func `waiting runs expire alone and keep their order`() {
    let now = ContinuousClock.now
    var queue = TransactionQueue()
    func run(_ text: String, _ seconds: Int) -> Transaction {
      Transaction(work: .script(text), deadline: now + .seconds(seconds)) { _ in }
    }
    func text(_ run: Transaction?) -> String? {
      if case .script(let text) = run?.work { text } else { nil }
    }
    for (name, seconds) in [("b", 3), ("c", 1), ("d", 2)] { queue.append(run(name, seconds)) }
    queue.prepend(run("a", 9))
    #expect(queue.nextDeadline == now + .seconds(1))
    #expect(queue.removeExpired(now: now).isEmpty)
    #expect(queue.removeExpired(now: now + .seconds(2)).map { text($0) } == ["c", "d"])
    #expect(queue.nextDeadline == now + .seconds(3))
    #expect(text(queue.popFirst()) == "a")
    #expect(queue.removeAll().map { text($0) } == ["b"])
    #expect(queue.isEmpty && queue.nextDeadline == nil)
  }
}
