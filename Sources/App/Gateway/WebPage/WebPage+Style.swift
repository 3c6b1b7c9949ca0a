extension WebPage {
    /// The page's looks, in light and dark.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --page: #f4f2ee; --card: #ffffff; --line: #dfdbd3; --text: #1d2023; --soft: #666a6e;
          --accent: #1f6f5c; --on-accent: #ffffff; --warn: #9a5b00; --bad: #b3261e; --good: #1d8a5b; --talk: #c2410c;
          --shadow: 0 1px 2px rgb(0 0 0 / .06), 0 8px 24px rgb(0 0 0 / .06);
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #14161a; --card: #1e2126; --line: #30353c; --text: #eceef0; --soft: #9ba2aa;
            --accent: #4fb495; --on-accent: #07231b; --warn: #f0b35a; --bad: #ff8a80; --good: #57d19c; --talk: #d1480d;
            --shadow: 0 1px 2px rgb(0 0 0 / .4), 0 8px 24px rgb(0 0 0 / .3);
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body {
          margin: 0; min-height: 100dvh; background: var(--page); color: var(--text);
          font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          padding: 0 max(16px, env(safe-area-inset-right)) env(safe-area-inset-bottom) max(16px, env(safe-area-inset-left));
          display: flex; flex-direction: column;
        }
        main { flex: 1; width: 100%; max-width: 1180px; margin: 0 auto; }
        .bar {
          display: flex; align-items: center; gap: 12px; width: 100%; max-width: 1180px; margin: 0 auto;
          padding: calc(14px + env(safe-area-inset-top)) 0 14px;
        }
        .mark { border-radius: 9px; display: block; }
        h1 { font-size: 1.2rem; margin: 0; letter-spacing: -.01em; }
        .link { margin: 0 0 0 auto; font-size: .85rem; color: var(--soft); display: flex; align-items: center; gap: 7px; }
        .dot { width: 9px; height: 9px; border-radius: 50%; background: var(--soft); flex: none; }
        .online .dot, .dot.online { background: var(--good); }
        .offline .dot, .dot.offline { background: var(--bad); }
        .waiting .dot, .dot.waiting { background: var(--warn); animation: pulse 1.4s infinite; }
        @keyframes pulse { 50% { opacity: .3; } }
        @media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }

        .cameras { display: grid; gap: 18px; align-items: start;
          grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 16px; box-shadow: var(--shadow); }
        .tile { overflow: hidden; display: flex; flex-direction: column; }
        .tile.live { grid-column: span 2; }
        @media (max-width: 760px) { .tile.live { grid-column: auto; } }
        .screen {
          position: relative; aspect-ratio: 16 / 9; color: #e8eaec; overflow: hidden;
          background: radial-gradient(circle at 50% 35%, #20262b, #0c0e10 75%);
          display: grid; place-items: center;
        }
        .screen video, .screen canvas { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
        .screen canvas { opacity: .45; filter: blur(2px); }
        .screen video { opacity: 0; transition: opacity .2s; }
        .tile.playing .screen video { opacity: 1; }
        .screen img.picture { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
        .screen img.picture.stale { opacity: .5; }
        .tile.stalled .screen video { opacity: .35; filter: grayscale(1); }
        .stall { position: absolute; inset: auto 12px 12px; margin: 0 auto; width: fit-content; max-width: calc(100% - 24px);
          padding: 7px 14px; border-radius: 12px; background: rgb(12 14 16 / .78); color: #fff; font-weight: 600;
          font-size: .9rem; text-align: center; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
        .empty { color: #59626a; margin-bottom: calc(56px + 4%); }
        .empty svg { width: 58px; height: 58px; display: block; }
        .watch {
          position: absolute; inset: 0; width: 100%; border: 0; background: none; color: inherit; font: inherit;
          cursor: pointer; display: grid; place-items: center; padding-top: 22%;
        }
        .has-poster .watch { padding-top: 0; }
        .watch span {
          display: inline-flex; align-items: center; gap: 9px; padding: 11px 22px 11px 18px; border-radius: 999px;
          background: rgb(255 255 255 / .14); backdrop-filter: blur(8px); font-weight: 600;
          transition: background .15s, transform .15s;
        }
        .watch:hover span { background: rgb(255 255 255 / .26); transform: scale(1.03); }
        .watch svg { width: 20px; height: 20px; }
        .chips { position: absolute; inset: 10px 10px auto 10px; display: flex; gap: 8px; pointer-events: none; }
        .chip {
          display: inline-flex; align-items: center; gap: 7px; padding: 4px 11px; border-radius: 999px; font-size: .78rem;
          font-weight: 600; background: rgb(12 14 16 / .62); color: #fff; backdrop-filter: blur(6px);
          font-variant-numeric: tabular-nums;
        }
        .chip.right { margin-left: auto; }
        .chip.talking { background: var(--talk); }
        .spinner {
          position: absolute; width: 42px; height: 42px; border-radius: 50%; border: 3px solid rgb(255 255 255 / .22);
          border-top-color: #fff; animation: turn .9s linear infinite; pointer-events: none;
        }
        @keyframes turn { to { transform: rotate(1turn); } }
        .unmute { position: absolute; bottom: 12px; }
        .stalled .unmute { bottom: 64px; }

        .about { display: flex; align-items: center; gap: 12px; padding: 13px 16px; }
        .about h2 { font-size: 1.02rem; margin: 0; letter-spacing: -.005em; }
        .about p { margin: 1px 0 0; color: var(--soft); font-size: .84rem; overflow-wrap: anywhere; }
        .about > div { flex: 1; min-width: 0; }
        .about p.happening.now { color: inherit; font-weight: 600; }
        .controls { display: flex; flex-wrap: wrap; gap: 8px; padding: 0 16px 14px; }
        .button {
          appearance: none; border: 1px solid var(--line); background: transparent; color: var(--text); font: inherit;
          font-weight: 600; font-size: .92rem; border-radius: 12px; padding: 10px 15px; min-height: 44px; cursor: pointer;
          display: inline-flex; align-items: center; justify-content: center; gap: 8px; white-space: nowrap;
          transition: background .15s, border-color .15s;
        }
        .button svg { width: 19px; height: 19px; flex: none; }
        @media (max-width: 760px) {
          .live .button.talk { flex-basis: 100%; min-height: 52px; }
          .live .button.compact { flex: 1; }
          .live .button.compact span { display: none; }
        }
        .button:hover { border-color: var(--soft); }
        .button:disabled { opacity: .5; cursor: default; }
        .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .button.talk { flex: 1; min-width: 118px; background: var(--accent); border-color: var(--accent);
          color: var(--on-accent); touch-action: manipulation; }
        .button.talk[aria-pressed="true"] { background: var(--talk); border-color: var(--talk); color: #fff; }
        .button.on-screen { background: #fff; color: #111; border: 0; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .screen :focus-visible { outline-color: #fff; outline-offset: -4px; }

        .fault { margin: 0 16px 14px; padding: 11px 14px; border-radius: 12px; font-size: .9rem;
          background: color-mix(in srgb, var(--bad) 12%, transparent); color: var(--text);
          border-left: 4px solid var(--bad); overflow-wrap: anywhere; }
        .fault strong { display: block; }
        .fault.mild { border-color: var(--warn); background: color-mix(in srgb, var(--warn) 12%, transparent); }
        details { border-top: 1px solid var(--line); }
        summary { padding: 11px 16px; cursor: pointer; font-size: .86rem; color: var(--soft); }
        .steps { list-style: none; margin: 0; padding: 2px 16px 14px; font-size: .84rem; font-variant-numeric: tabular-nums; }
        .steps li { display: grid; grid-template-columns: 1fr auto; gap: 3px 12px; padding: 3px 0; }
        .steps .bar-line { grid-column: 1 / -1; height: 4px; border-radius: 2px; background: var(--line); overflow: hidden; }
        .steps .bar-line i { display: block; height: 100%; background: var(--accent); border-radius: 2px; }
        .steps .heading { color: var(--soft); font-weight: 600; padding-top: 8px; }

        .visitors { position: sticky; top: 8px; z-index: 5; width: 100%; max-width: 1180px; margin: 0 auto;
          display: grid; gap: 10px; }
        .visitor { display: flex; align-items: center; gap: 12px; padding: 12px 14px; margin-bottom: 12px; border-radius: 16px;
          background: var(--accent); color: var(--on-accent); box-shadow: var(--shadow); animation: drop .25s ease-out; }
        @keyframes drop { from { transform: translateY(-12px); opacity: 0; } }
        .visitor svg { width: 26px; height: 26px; flex: none; }
        .visitor p { margin: 0; flex: 1; font-weight: 600; }
        .visitor small { display: block; font-weight: 400; opacity: .85; }
        .visitor .button { border-color: currentColor; color: inherit; }

        .sign-in { max-width: 460px; margin: 6vh auto; padding: 26px; display: grid; gap: 12px; }
        .sign-in h2 { margin: 0; }
        .sign-in p { margin: 0; color: var(--soft); font-size: .94rem; }
        .sign-in label { font-weight: 600; font-size: .9rem; }
        .sign-in input { font: inherit; padding: 12px 14px; border-radius: 12px; border: 1px solid var(--line);
          background: var(--page); color: var(--text); width: 100%; }
        .error { color: var(--bad); margin: 0; font-size: .9rem; font-weight: 600; overflow-wrap: anywhere; }
        details.more { border: 0; margin-top: 4px; font-weight: 400; }
        details.more summary { padding: 4px 0; min-height: 24px; }
        details.more p { margin: 0; color: var(--soft); font-size: .84rem; overflow-wrap: anywhere; white-space: pre-line; }
        .trouble { padding: 0 16px 10px; font-size: .84rem; color: var(--soft); overflow-wrap: anywhere; }
        .add { margin-top: 18px; }
        .add > summary { padding: 15px 16px; font-size: .95rem; font-weight: 600; color: var(--text); }
        .fields { display: grid; gap: 10px; padding: 2px 16px 18px; max-width: 560px; }
        .fields label { font-weight: 600; font-size: .9rem; }
        .fields .check { font-weight: 400; display: flex; gap: 10px; align-items: flex-start; }
        .fields input:not([type="checkbox"]), .fields select { font: inherit; padding: 11px 13px; border-radius: 12px;
          border: 1px solid var(--line); background: var(--page); color: var(--text); width: 100%; min-width: 0; }
        .settings { padding: 0 16px 14px; display: grid; gap: 8px; font-size: .84rem; overflow-wrap: anywhere; }
        .settings p { margin: 0; color: var(--soft); }
        code { background: color-mix(in srgb, var(--soft) 16%, transparent); padding: 1px 6px; border-radius: 6px;
          font-size: .9em; }
        .notice { padding: 13px 16px; border-radius: 14px; margin: 0 0 16px; background: var(--card);
          border: 1px solid var(--line); }
        footer { color: var(--soft); font-size: .8rem; text-align: center; padding: 26px 0 20px; }
        """#
}
