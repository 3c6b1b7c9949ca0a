extension WebPage {
    /// The page's frame; the scripts fill it.
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <meta name="color-scheme" content="light dark">
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f4f2ee">
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#14161a">
        <title>Gatehouse</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
        <link rel="manifest" href="/assets/app.webmanifest">
        <link rel="stylesheet" href="/assets/style.css">
        <script type="module" src="/assets/app.js"></script>
        </head>
        <body>
        <header class="bar">
          <img class="mark" src="/assets/icon.svg" alt="" width="34" height="34">
          <h1>Gatehouse</h1>
          <p class="link" id="link" role="status"><span class="dot"></span><span id="link-text">Connecting</span></p>
        </header>
        <div id="visitors" class="visitors" aria-live="assertive"></div>
        <main>
          <div id="notice" class="notice" role="status" hidden></div>
          <section id="cameras" class="cameras" aria-label="Cameras"></section>
          <details id="add" class="card add" hidden>
            <summary>Add a camera</summary>
            <form id="add-camera" class="fields">
              <label for="camera-name">Name</label>
              <input id="camera-name" required maxlength="80" autocomplete="off" placeholder="Yard">
              <label for="camera-source">Address</label>
              <input id="camera-source" required maxlength="2048" autocomplete="off" autocapitalize="off"
                spellcheck="false" placeholder="rtsp://user:password@192.0.2.20:554/stream1">
              <label for="camera-type">Kind</label>
              <select id="camera-type"><option value="camera">Camera</option><option value="doorbell">Doorbell</option>
              </select>
              <label class="check"><input id="camera-battery" type="checkbox"> Runs on a battery: pull it only while
                somebody watches</label>
              <div id="add-camera-error" class="error" role="alert" hidden></div>
              <button class="button primary" type="submit">Add</button>
            </form>
          </details>
          <form id="sign-in" class="card sign-in" hidden>
            <h2>Open this gateway</h2>
            <p>Paste the gateway’s token. On the machine it runs on, <code>gatehouse token</code> shows it, and
              <code>gatehouse token --url</code> prints an address that signs in by itself.</p>
            <label for="token">Token</label>
            <input id="token" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false"
              placeholder="gatehouse_…" required>
            <div id="sign-in-error" class="error" role="alert" hidden></div>
            <button class="button primary" type="submit">Open</button>
          </form>
          <noscript><p class="notice">This page needs JavaScript for live view.</p></noscript>
        </main>
        <footer><span id="version"></span></footer>
        </body>
        </html>
        """#

    /// The page's icon: an arched gate with a lens.
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
        <rect width="64" height="64" rx="15" fill="#1f6f5c"/>
        <path d="M14 52V30a18 18 0 0 1 36 0v22h-8V30a10 10 0 0 0-20 0v22z" fill="#f6efe0"/>
        <circle cx="32" cy="33" r="6.5" fill="#f2b84b"/><circle cx="32" cy="33" r="2.6" fill="#14352c"/>
        </svg>
        """#

    /// Lets phones put the page on their home screen.
    static let manifest = #"""
        {"name":"Gatehouse","short_name":"Gatehouse","start_url":"/","display":"standalone",
        "background_color":"#14161a","theme_color":"#1f6f5c",
        "icons":[{"src":"/assets/icon.svg","sizes":"any","type":"image/svg+xml"}]}
        """#
}
