/// The style sheet of a story's page.
enum StoryStyle {
  /// - Parameter languages: how many the page lets a reader choose from.
  static func css(languages: Int) -> String {
    let choices = (0..<languages).map {
      "  body:has(#l\($0):checked) .phone:not(.in\($0)) { display: none; }\n"
    }.joined()
    return base + choices
  }

  private static let base = #"""

      :root { --glass: light-dark(#fffffff0, #26272bf0); }
      :root:has(#light:checked) { color-scheme: light; }
      :root:has(#dark:checked) { color-scheme: dark; }
      form { display: flex; flex-wrap: wrap; gap: 1rem; }
      fieldset { border: 1px solid var(--line); border-radius: 8px; }
      label { margin-right: .8em; }
      section { border-top: 1px solid var(--line); margin-top: 1.2rem; }
      h2 { font-size: 1.05rem; font-weight: normal; }
      time { font-variant-numeric: tabular-nums; color: var(--dim); margin-right: .6em; }
      article { margin: 0 0 1rem 1rem; }
      .head, .note { margin: .2rem 0 .4rem; }
      .note, .none, figcaption { color: var(--dim); font-size: .85rem; }
      .unsent { border-left: 3px solid light-dark(#c77700, #ffb454); padding-left: .7rem; }
      .silent { border-left: 3px dashed var(--line); padding-left: .7rem; }
      .phones { display: flex; flex-wrap: wrap; gap: .9rem; align-items: start; }
      figure { margin: 0; }
      figcaption { margin: .2rem .3rem; }
      .lock { width: 21rem; max-width: 100%; box-sizing: border-box; padding: .7rem;
        border-radius: 18px; display: grid; gap: .5rem;
        background: linear-gradient(160deg, #fff3, #0003) light-dark(#a9c3e4, #25293d); }
      .notification, .card { background: var(--glass); border-radius: 14px; padding: .65rem .75rem; }
      .notification { display: grid; grid-template-columns: auto 1fr; gap: .65rem; }
      .notification.passive { opacity: .75; }
      .icon { width: 2.1rem; height: 2.1rem; border-radius: 8px; color: #fff; font-weight: 600;
        display: grid; place-items: center; }
      .rider { background: #0a6ed1; }
      .driver { background: #1f7a4d; }
      .notification p { margin: 0; overflow-wrap: anywhere; }
      .notification .title, .notification .subtitle { font-weight: 600; }
      /* The first letter that is not isolated decides the order of a text's words, which dir="auto" does
        not heed; where it begins follows the phone. */
      .notification p, .card dd { unicode-bidi: plaintext; }
      [dir="rtl"] .notification p { text-align: right; }
      [dir="ltr"] .notification p { text-align: left; }
      .level { font-size: .72rem; letter-spacing: .03em; text-transform: uppercase;
        color: var(--dim); }
      .card .state { margin: 0 0 .3rem; font-size: .72rem; text-transform: uppercase;
        color: var(--dim); }
      .card.ended { opacity: .75; }
      dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem .8rem; margin: 0;
        font-size: .9rem; }
      dt { color: var(--dim); }
      dd { margin: 0; overflow-wrap: anywhere; }
      .quiet { margin: 0; }

    """#
}
