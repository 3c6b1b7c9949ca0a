import COpenSSL
import CWebFiles

/// The web page. Its files are in `Sources/App/WebFiles/page` and are part of the program, so nothing has to be
/// installed next to it.
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

    /// The file of the page that shows one camera.
    static let cameraPage = "/assets/camera.html"

    /// The files by their paths.
    let assets: [String: Asset]

    init() {
        var count = 0
        let files = UnsafeBufferPointer(start: web_page_files(&count), count: count)
        self.assets = Dictionary(
            uniqueKeysWithValues: files.map { file in
                (String(cString: file.path), Asset(String(cString: file.media_type), file.text))
            })
    }
}
