import Testing

@testable import AdminServer

@Suite struct MetricFamilyTests {
  @Test func `samples, labels and help are written as Prometheus reads them`() {
    var family = MetricFamily(.counter, "a_total", "Line\none \\ \"two\".")
    family.add(1)
    family.add(2.5, [.init("x", "a\"b\\c\nd"), .init("y", "")])
    #expect(
      MetricFamily.page([family, MetricFamily(.gauge, "b", "None yet.")]) == #"""
        # HELP a_total Line\none \\ "two".
        # TYPE a_total counter
        a_total 1
        a_total{x="a\"b\\c\nd",y=""} 2.5
        # HELP b None yet.
        # TYPE b gauge

        """#)
  }

  @Test func `a histogram sums its buckets up`() {
    var family = MetricFamily(.histogram, "h_seconds", "H.")
    family.add(bounds: [0.5, 1], counts: [1, 0, 2], sum: 7.25, [.init("app", "a")])
    #expect(
      MetricFamily.page([family]) == """
        # HELP h_seconds H.
        # TYPE h_seconds histogram
        h_seconds_bucket{app="a",le="0.5"} 1
        h_seconds_bucket{app="a",le="1"} 1
        h_seconds_bucket{app="a",le="+Inf"} 3
        h_seconds_sum{app="a"} 7.25
        h_seconds_count{app="a"} 3

        """)
  }

  @Test(
    arguments: [
      (0, "0"), (-1, "-1"), (0.1, "0.1"), (1e300, "1e+300"), (.infinity, "+Inf"),
      (-.infinity, "-Inf"), (.nan, "NaN"), (134_217_728, "134217728"),
    ] as [(Double, String)])
  func `values are numbers for Prometheus too`(value: Double, text: String) {
    #expect(MetricFamily.page([MetricFamily(.gauge, "g", "G.", value)]).hasSuffix("g \(text)\n"))
  }
}
