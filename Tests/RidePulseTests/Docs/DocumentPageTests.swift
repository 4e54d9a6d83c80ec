import Testing

/// How a page's blocks are read, and its outputs compared.
@Suite("Blocks of pages") struct DocumentPageTests {
  private static let text = """
    # A page

    <!-- stage: files
    touch a
    -->
    ```
    $ ls
    a
    $ printf 'x\\ny'
    > true
    x
    ```

    <!-- stage of each block: files two -->
    ```yaml
    # b/c.yaml
    on: x
    ```
    <!-- not tested: takes an hour -->
    ```
    $ make chaos
    ```
    """

  @Test func `Comments, commands and outputs are read`() {
    let page = DocumentPage(path: "a.md", text: Self.text)
    #expect(page.stages == ["files", "files two"] && page.blocks.count == 3)
    #expect(page.blocks[0].comment == .stage(name: "files", setUp: "touch a"))
    #expect(page.blocks[1].comment == .stage(name: "files two", setUp: ""))
    #expect(page.file(of: page.blocks[1]) == "b/c.yaml")
    #expect(page.blocks[2].comment == .notTested(reason: "takes an hour"))
    let transcript = Transcript(page.content(of: page.blocks[0]), from: 7)
    #expect(transcript.exchanges.map(\.command) == ["ls", "printf 'x\\ny'\ntrue"])
    #expect(transcript.exchanges.map(\.output) == [["a"], ["x"]])
    #expect(transcript.exchanges.flatMap(\.printed) == page.content(of: page.blocks[0]))
    let other = page.text(replacing: [page.blocks[0].content: ["$ ls", "b"]])
    #expect(other.contains("```\n$ ls\nb\n```\n") && other.hasSuffix("$ make chaos\n```"))
  }

  /// What a page has, what was printed, whether values vary, and whether the two are the same.
  private static let outputs: [([String], [String], Bool, Bool)] = [
    (["a", "b"], ["a", "b", ""], false, true),
    (["a", "b"], ["a", "c"], false, false),
    (["a"], ["a", "b"], false, false),
    (["a", "b"], ["a"], false, false),
    (["a", "[…]"], ["a", "b", "c"], false, true),
    (["a", "  […]", "c", "[…]", "e"], ["a", "b", "c", "d", "e"], false, true),
    (["a", "[…]", "x", "[…]"], ["a", "b", "c"], false, false),
    (["[…]", "c"], ["a", "b"], false, false),
    (["a […] d […]"], ["a b c d e"], false, true),
    (["a […] e"], ["a b c d"], false, false),
    (["at 08:02:31 +00:00"], ["at 09:12:00 +00:00"], true, true),
    (["at 08:02:31 +00:00"], ["at 09:12:00 +00:00"], false, false),
    (
      ["2026-11-21 08:02:31 +00:00  x after 7 ms"], ["2026-11-24 11:00:00 +00:00  x after 123 ms"],
      true, true
    ),
    (["2026-11-21T08:02:31Z x"], ["2026-11-24T11:00:00.123Z y"], true, false),
    (["to …c1c1c1, …c1c1c1"], ["to …0a0a0a, …0a0a0a"], true, true),
    (["to …c1c1c1, …c1c1c1"], ["to …0a0a0a, …0b0b0b"], true, false),
    (
      ["5f96e898-237e-8cd9-9fca-b44a1f9f5576"], ["00000000-237e-8cd9-9fca-b44a1f9f5576"], true,
      true
    ),
  ]

  @Test(arguments: outputs.indices) func `An output is compared`(index: Int) {
    let (page, output, varies, isSame) = Self.outputs[index]
    var comparison = OutputComparison(varies: varies)
    let difference = comparison.difference(page: page, output: output)
    #expect((difference == nil) == isSame, "\(difference ?? "no difference")")
  }
}
