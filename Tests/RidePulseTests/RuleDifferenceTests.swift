import PostgresStore
import Testing

@testable import RidePulse

@Suite struct RuleDifferenceTests {
  private static func node(
    _ rules: String?, for seconds: Int, share: String? = nil, silentFor silence: Int = 1
  ) -> LivingState.Node {
    var node = LivingState.Node(host: "a", sinceClaim: .seconds(silence))
    (node.rules, node.rulesShare, node.sinceRules) = (rules, share, .seconds(seconds))
    return node
  }

  private static let agreements: [([LivingState.Node], LivingState.RuleAgreement)] = [
    ([], .agree), ([node("a", for: 3)], .agree), ([node("a", for: 90), node("a", for: 1)], .agree),
    ([node("a", for: 90), node("b", for: 59)], .settling),
    ([node("a", for: 90), node(nil, for: 0)], .settling),
    ([node("a", for: 90), node("b", for: 90, silentFor: 16)], .agree),
    (
      [node("a", for: 90), node("b", for: 90)],
      .differ([node("a", for: 90), node("b", for: 90)])
    ),
    (
      [node("a", for: 90), node("a", for: 90, share: "c for 5%")],
      .differ([node("a", for: 90), node("a", for: 90, share: "c for 5%")])
    ),
  ]

  @Test(arguments: agreements.indices)
  func `nodes agree, differ, or took their rules too lately`(index: Int) {
    let (nodes, agreement) = Self.agreements[index]
    #expect(LivingState.ruleAgreement(of: nodes) == agreement)
  }

  @Test func `a difference ends when the nodes agree, and not while they settle`() {
    let nodes = [Self.node("a", for: 90), Self.node("b", for: 90)]
    var difference = RuleDifference()
    var told = [difference.follow(.settling), difference.follow(.agree)]
    #expect(told == [nil, nil])
    told = [difference.follow(.differ(nodes)), difference.follow(.differ(nodes))]
    #expect(told == [.began(nodes), nil])
    told = [difference.follow(.settling)]
    #expect(told == [nil] && difference.nodes == nodes)
    told = [difference.follow(.agree), difference.follow(.agree)]
    #expect(told == [.ended, nil] && difference.nodes.isEmpty)
  }
}
