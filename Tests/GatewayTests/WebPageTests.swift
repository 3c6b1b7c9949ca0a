import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Gateway

@Suite struct WebPageTests {
    private let page = WebPage(files: [
        ("/", "text/html; charset=utf-8", Array(Self.html.utf8)),
        ("/assets/app.js", "text/javascript", Array(#"import { a } from "./a.js";"#.utf8)),
        ("/assets/a.js", "text/javascript", Array("import {\n  b,\n} from \"./b.js\";\nexport const a = b;".utf8)),
        ("/assets/b.js", "text/javascript", Array(#"export * from "./app.js";"#.utf8)),
        ("/assets/alone.js", "text/javascript", []),
    ])
    private static let html = """
        <head><link rel="manifest" href="/assets/app.webmanifest"><script type="module" src="/assets/app.js"></script>
        </head>
        """

    @Test func `a document names all modules that its script needs, in a folder that changes with them`() throws {
        let text = try #require(page.assets["/"]).text
        let folder = try #require(page.lasting.keys.first { $0.hasSuffix("/app.js") }).dropLast(6)
        #expect(text.contains("src=\"\(folder)app.js\""))
        let preloaded = text.matches(of: /modulepreload" href="([^"]+)"/).map { String($0.1) }
        #expect(preloaded == ["\(folder)a.js", "\(folder)b.js"])
        #expect(text.contains("href=\"/assets/app.webmanifest\""))
        let other = WebPage(files: [("/assets/app.js", "text/javascript", [1])])
        #expect(other.lasting.keys.first { $0.hasSuffix("/app.js") } != "\(folder)app.js")
    }

    @Test func `every file that a document of the real page names is there`() throws {
        let page = WebPage()
        for (path, asset) in page.assets where asset.mediaType.hasPrefix("text/html") {
            let named = asset.text.matches(of: /(?:src|href)="(\/[^"#]+)"/).map { String($0.1) }
            #expect(named.count > 2)
            for name in named { #expect(page.paths.contains(name), "\(path) names \(name)") }
        }
    }

    @Test(arguments: [
        ("gzip, deflate, br", true), ("x-gzip", true), ("*", true), ("GZIP;q=0.5", true), ("br, gzip ; q=0.001", true),
        ("", false), ("br", false), ("gzip;q=0", false), ("*;q=0", false), ("gzip;q=0, *", false), ("identity", false),
    ])
    func `only who takes gzip gets it`(header: String, takes: Bool) async throws {
        #expect(GatewayAPI.acceptsGzip(header) == takes)
        try await TestGateway().run { client in
            let answer = try await client.send(
                .get, "/assets/app.js", token: nil, headers: [.acceptEncoding: header])
            #expect(answer.headers[.contentEncoding] == (takes ? "gzip" : nil))
            #expect(answer.headers[.vary] == "Accept-Encoding")
            let isGzip = answer.body.readableBytesView.starts(with: [0x1F, 0x8B])
            #expect(isGzip == takes)
        }
    }

    @Test func `each representation has a tag of its own, and pictures are not compressed again`() async throws {
        try await TestGateway().run { client in
            let gzip: HTTPFields = [.acceptEncoding: "gzip"]
            let plainTag = try #require(try await client.send(.get, "/assets/app.js", token: nil).headers[.eTag])
            let gzipTag = try #require(
                try await client.send(.get, "/assets/app.js", token: nil, headers: gzip).headers[.eTag])
            #expect(plainTag != gzipTag)
            var headers = gzip
            headers[.ifNoneMatch] = gzipTag
            let known = try await client.send(.get, "/assets/app.js", token: nil, headers: headers)
            #expect(known.status == .notModified && known.headers[.eTag] == gzipTag)
            headers[.ifNoneMatch] = plainTag
            #expect(try await client.send(.get, "/assets/app.js", token: nil, headers: headers).status == .ok)
            let picture = try await client.send(.get, "/assets/icon-192.png", token: nil, headers: gzip)
            #expect(picture.headers[.contentEncoding] == nil && picture.headers[.contentType] == "image/png")
        }
    }

    @Test func `files of a version are kept for a year, and all others are asked for again`() async throws {
        let gateway = try TestGateway()
        let lasting = try #require(gateway.api.page.lasting.keys.first { $0.hasSuffix("/app.js") })
        try await gateway.run { client in
            let kept = try await client.send(.get, lasting, token: nil)
            #expect(kept.headers[.cacheControl] == "public, max-age=31536000, immutable")
            for path in ["/", "/assets/app.js", "/service-worker.js"] {
                #expect(try await client.send(.get, path, token: nil).headers[.cacheControl] == "no-cache", "\(path)")
            }
        }
    }

    @Test func `what is compressed is the file`() throws {
        let bytes = Array(String(repeating: "gatehouse ", count: 5_000).utf8)
        let gzip = try #require(WebAsset.gzip(bytes))
        #expect(gzip.count < 1_000)
        // RFC 1952, section 2.3.1: the last four bytes are the length.
        #expect(gzip.suffix(4) == [UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8), 0, 0])
        #expect(try #require(WebAsset.gzip([])).starts(with: [0x1F, 0x8B]))
    }
}
