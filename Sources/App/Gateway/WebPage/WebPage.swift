import COpenSSL

/// The web page: static text that lives in the program, so that nothing has to be installed or built beside it.
struct WebPage: Sendable {
    /// One file of the page.
    struct Asset: Sendable {
        let mediaType: String
        let text: String
        /// The entity tag with its quotation marks: a digest of the text.
        let entityTag: String

        init(_ mediaType: String, _ text: String) {
            self.mediaType = mediaType
            self.text = text
            var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
            let bytes = Array(text.utf8)
            SHA256(bytes, bytes.count, &digest)
            let digits = digest.prefix(8).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }
            self.entityTag = "\"\(digits.joined())\""
        }
    }

    /// The files by their paths.
    let assets: [String: Asset]

    init() {
        let script = "text/javascript; charset=utf-8"
        self.assets = [
            "/": Asset("text/html; charset=utf-8", Self.html),
            "/assets/style.css": Asset("text/css; charset=utf-8", Self.style),
            "/assets/icon.svg": Asset("image/svg+xml", Self.icon),
            "/assets/app.webmanifest": Asset("application/manifest+json", Self.manifest),
            "/assets/app.js": Asset(script, Self.appScript),
            "/assets/api.js": Asset(script, Self.apiScript),
            "/assets/live-session.js": Asset(script, Self.liveSessionScript),
            "/assets/liveness.js": Asset(script, Self.livenessScript),
            "/assets/words.js": Asset(script, Self.wordsScript),
            "/assets/talk.js": Asset(script, Self.talkScript),
            "/assets/tile.js": Asset(script, Self.tileScript),
            "/assets/snapshots.js": Asset(script, Self.snapshotScript),
            "/assets/camera-form.js": Asset(script, Self.cameraFormScript),
            "/assets/chime.js": Asset(script, Self.chimeScript),
        ]
    }
}
