import Cameras
import Foundation
import HTTPTypes
import HomeTypes
import NIOCore
import Testing
import Transport

@testable import Gateway

@Suite struct WebPageTests {
    private let page = WebPage(files: [
        WebFile("/", "text/html; charset=utf-8", Array(Self.html.utf8)),
        WebFile("/assets/app.js", "text/javascript", Array(#"import { a } from "./a.js";"#.utf8)),
        WebFile(
            "/assets/a.js", "text/javascript",
            Array("import {\n  b,\n} from \"./b.js\";\nexport const a = b;".utf8)),
        WebFile("/assets/b.js", "text/javascript", Array(#"export * from "./app.js";"#.utf8)),
        WebFile("/assets/alone.js", "text/javascript", []),
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
        let other = WebPage(files: [WebFile("/assets/app.js", "text/javascript", [1])])
        #expect(other.lasting.keys.first { $0.hasSuffix("/app.js") } != "\(folder)app.js")
    }

    @Test func `a version's folder has the digest of its files as its name`() {
        // Of each path, a zero byte, the digest of its content and a zero byte, in the order of the paths.
        let app = page.lasting.keys.first { $0.hasSuffix("/app.js") }
        #expect(app == "/assets/aebbdcc801f0a7dd/app.js")
    }

    @Test func `a digest is the beginning of SHA-256`() {
        // FIPS 180-4, the example with one block.
        #expect(WebAsset.digest(of: Array("abc".utf8)) == "ba7816bf8f01cfea")
        #expect(WebAsset.digest(of: [UInt8]()) == "e3b0c44298fc1c14")
    }

    @Test func `a file is made when it is first asked for, and no other one`() async throws {
        let gateway = try TestGateway()
        let page = gateway.api.page
        @Sendable func made() -> [String] { page.assets.filter { $0.value.isMade }.keys.sorted() }
        #expect(made().isEmpty)
        let lasting = try #require(page.lasting.keys.first { $0.hasSuffix("/dom.js") })
        try await gateway.run { client in
            #expect(made().isEmpty)
            _ = try await client.send(.get, "/assets/app.js", token: nil)
            #expect(made() == ["/assets/app.js"])
            _ = try await client.send(.get, lasting, token: nil)
            #expect(made() == ["/assets/app.js", "/assets/dom.js"])
            // The modules of a document are only read.
            _ = try await client.send(.get, "/", token: nil)
            #expect(made() == ["/", "/assets/app.js", "/assets/dom.js"])
        }
    }

    @Test func `many who ask for a file at once get the same one`() async {
        let calls = Locked(0)
        let asset = WebAsset("text/plain") {
            calls.withLock { $0 += 1 }
            return Array("text".utf8)
        }
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { asset.digest + asset.text } }
            for await answer in group { #expect(answer == asset.digest + "text") }
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `the modules that a module imports are those that it names with from`() {
        let module = """
            // import { no } from "./comment.js";
            import { a } from "./a.js";
            import * as b
              from  "./b.js"
            import "./nothing.js";
            import { c } from "elsewhere";
            import { d } from './single.js';
            imported = x; y = from "./no.js";
              import { e } from "./indented.js";
            export { f } from "./f.js"; export { g } from "./second.js";
            export const h = 1; const i = { from "./after.js" };
            const later = import("./later.js");
            import { empty } from "./";
            import { open } from "./open
            """
        #expect(ModuleGraph.imports(of: Array(module.utf8)) == ["a.js", "b.js", "f.js"])
        #expect(ModuleGraph.imports(of: []) == [])
        #expect(ModuleGraph.imports(of: Array("import".utf8)) == [])
    }

    @Test func `every file that a document of the real page names is there`() throws {
        let page = WebPage()
        for (path, asset) in page.assets where asset.mediaType.hasPrefix("text/html") {
            let named = asset.text.matches(of: /(?:src|href)="(\/[^"#]+)"/).map { String($0.1) }
            #expect(named.count > 2)
            for name in named { #expect(page.paths.contains(name), "\(path) names \(name)") }
        }
    }

    @Test(arguments: ["en", "de"])
    func `the message about an unusable address names every beginning that the gateway accepts`(
        language: String
    ) throws {
        let texts = try #require(WebPage().assets["/assets/text-\(language).js"]).text
        let sentence = try #require(texts.split(separator: "\n").first { $0.contains("\"words.unusableAddress\": ") })
        for scheme in GatewayConfiguration.Camera.schemes {
            // `hls+http` is written as two: what is in front is the same for `http` and `https`.
            let parts = scheme.split(separator: "+")
            for form in parts.dropLast() { #expect(sentence.contains(" \(form)+"), "\(scheme)") }
            #expect(sentence.contains(" \(parts.last ?? "")://"), "\(scheme)")
        }
        #expect(sentence.contains(" \(VideoDeviceAddress.scheme):/dev/"))
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

    @Test func `a file that the page does not have is not found`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            for path in ["/assets/none.js", "/assets/0123456789abcdef/app.js", "/assets/a/b/app.js"] {
                let answer = try await client.send(.get, path)
                #expect(answer.status == .notFound && answer.failure?.code == .notFound, "\(path): \(answer.text)")
                #expect(try await client.send(.get, path, token: nil).status == .unauthorized, "\(path)")
            }
            #expect(try await client.send(.post, "/assets/app.js").status == .methodNotAllowed)
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
