/// The style sheet that the pages of previews and rehearsals share.
enum ReportStyle {
  static let css = #"""

      :root { --old: light-dark(#8a94a3, #7b8594); --rang: light-dark(#0a6ed1, #5aa9f5);
        --lit: light-dark(#8fc2f3, #2c5f8f); --night: light-dark(#1111400f, #c9c9ff17);
        --more: light-dark(#a35a00, #ffb454); --less: light-dark(#1f7a4d, #6fd3a0); }
      body { overflow-wrap: anywhere; }
      h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; }
      h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
      p { margin: .3rem 0; }
      .note, figcaption, .dim { color: var(--dim); font-size: .85rem; }
      .panels { display: grid; gap: 1rem;
        grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
      .panel { border: 1px solid var(--line); border-radius: 10px; padding: .2rem 1rem 1rem; }
      section > .panel { margin-top: .8rem; }
      .panel table { width: 100%; }
      .tiles { display: grid; gap: .8rem; margin: .6rem 0;
        grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); }
      .tiles dt { color: var(--dim); font-size: .85rem; }
      .tiles dd { margin: 0; font-variant-numeric: tabular-nums; }
      .tiles b { font-size: 1.6rem; font-weight: 600; line-height: 1.2; display: block; }
      .more { color: var(--more); }
      .less { color: var(--less); }
      figure { margin: .6rem 0 1rem; }
      svg { width: 100%; height: 6rem; border-bottom: 1px solid var(--line); display: block; }
      .old { fill: var(--old); }
      .rang { fill: var(--rang); }
      .lit { fill: var(--lit); }
      .night { fill: var(--night); }
      .axis { display: flex; justify-content: space-between; color: var(--dim); font-size: .8rem; }
      .key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
      .key.old { background: var(--old); }
      .key.rang { background: var(--rang); }
      .key.lit { background: var(--lit); }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
      caption { text-align: left; color: var(--dim); font-size: .85rem; }
      th { text-align: left; font-weight: normal; white-space: pre-wrap; }
      thead th { color: var(--dim); overflow-wrap: normal; }
      th, td { padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line);
        vertical-align: top; }
      .differs { font-weight: 600; }
      details { margin: .5rem 0; }
      summary { cursor: pointer; padding: .3rem 0; }
      summary:focus-visible { outline: 2px solid var(--rang); outline-offset: 2px; }
      article:not(.panel) p { margin: .2rem 0; color: var(--dim); }
      pre { margin: .2rem 0 .2rem 1rem; padding-left: .6rem; white-space: pre-wrap;
        font-size: .85rem; border-left: 3px solid var(--line); }
      .minus { border-left-color: light-dark(#c7364a, #ff8a98); }
      .plus { border-left-color: light-dark(#1f7a4d, #6fd3a0); }
      .moments { list-style: none; padding: 0; margin: .3rem 0; }
      .moments li { display: grid; grid-template-columns: 5.5rem 4rem 1fr; gap: 0 .6rem;
        padding: .3rem 0; border-bottom: 1px solid var(--line); }
      .moments p, .moments details { margin: 0; }
      time { font-variant-numeric: tabular-nums; }
      @media (max-width: 40rem) {
        body { margin: .9rem; }
        table, thead, tbody, tr, td, tbody th, caption { display: block; }
        thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        tr { border-bottom: 1px solid var(--line); padding: .3rem 0; }
        th, td { border: 0; padding: 0; }
        td[data-name]::before { content: attr(data-name) ": "; color: var(--dim);
          font-weight: normal; }
        .moments li { grid-template-columns: 5.5rem 1fr; }
        .moments div { grid-column: 1 / -1; }
      }
      @media print {
        :root { color-scheme: light; }
        body { margin: 0; font-size: 11px; }
        .panel, article, tr, li { break-inside: avoid; }
        svg { print-color-adjust: exact; }
      }

    """#
}
