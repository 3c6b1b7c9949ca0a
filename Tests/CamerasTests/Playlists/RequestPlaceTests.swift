import HTTPMedia
import Testing
import Transport

@testable import Cameras

/// Where the references of playlists lead.
struct RequestPlaceTests {
    private static let home = HTTPAddress(host: "cam.example", port: 8080, path: "/live/index.m3u8?token=1")

    private static func place(_ address: HTTPAddress, isAtHome: Bool = true) -> RequestPlace {
        RequestPlace(address, reach: .privateNetworks, isAtHome: isAtHome)
    }

    private static func refusal(_ reference: String, in place: RequestPlace) -> StreamFailure? {
        do throws(CameraFailure) {
            _ = try place.following(reference, from: home)
            return nil
        } catch {
            guard case .stream(let failure) = error else { return nil }
            return failure
        }
    }

    @Test(
        arguments: [
            ("a.ts", "http://cam.example:8080/live/a.ts", true), ("/b.ts?x", "http://cam.example:8080/b.ts?x", true),
            ("http://CAM.example:9000/c", "http://CAM.example:9000/c", true),
            ("https://cam.example/c", "https://cam.example/c", true),
            ("//cdn.example/d.ts", "http://cdn.example/d.ts", false),
            ("https://user:pass-word@cdn.example:8443/e.ts", "https://cdn.example:8443/e.ts", false),
            ("http://cam.example.:8080/f", "http://cam.example.:8080/f", false),
            ("http://cam.example:8080@evil.example/g", "http://evil.example/g", false),
            ("http://cdn.example", "http://cdn.example/", false),
        ] as [(String, String, Bool)])
    func `A reference may lead to another host, which is not home`(
        reference: String, expected: String, isAtHome: Bool
    ) throws {
        let place = try Self.place(Self.home).following(reference, from: Self.home)
        #expect(place.address.url == expected && place.isAtHome == isAtHome && place.reach == .privateNetworks)
    }

    @Test func `Who has left home does not come home again`() throws {
        let elsewhere = try Self.place(Self.home).following("http://cdn.example/list.m3u8", from: Self.home)
        let back = try elsewhere.following("http://cam.example:8080/cgi-bin/reboot", from: Self.home)
        #expect(!back.isAtHome)
        #expect(try !back.following("x.ts", from: Self.home).isAtHome)
    }

    @Test(
        arguments: [
            ("file:///etc/passwd", .notHTTP, "file:///etc/passwd"),
            ("concat:/etc/passwd|/b", .notHTTP, "concat:/etc/passwd|/b"),
            ("ftp://u:pass-word@h/x?secret", .notHTTP, "***@h/x"), ("a b", .notHTTP, "ab"), ("", .notHTTP, ""),
            ("skd://key", .notHTTP, "skd://key"),
            ("data:text/plain;base64,AA==", .notHTTP, "data:text/plain;base64,AA=="),
            ("http://", .notHTTP, "http://"), ("http://cdn.example:0/", .notHTTP, "http://cdn.example:0/"),
            ("http://cdn.example:22/x", .port, "http://cdn.example:22/x"),
            ("http://u:pass-word@cdn.example:25/x?secret", .port, "http://cdn.example:25/x"),
            ("http://cam.example:25/", .port, "http://cam.example:25/"),
        ] as [(String, StreamFailure.Refusal, String)])
    func `What cannot be requested is refused without secrets in the reason`(
        reference: String, refusal: StreamFailure.Refusal, shown: String
    ) {
        #expect(
            Self.refusal(reference, in: Self.place(Self.home)) == .leadsElsewhere(address: shown, refusal))
    }

    @Test func `HTTPS does not lead to HTTP`() throws {
        let secure = Self.place(HTTPAddress(host: "cam.example", port: 443, path: "/", isSecure: true))
        #expect(
            Self.refusal("http://cdn.example/a", in: secure)
                == .leadsElsewhere(address: "http://cdn.example/a", .notEncrypted))
        #expect(try secure.following("//cdn.example/a", from: Self.home).address.isSecure)
        // The way there was secure, so what follows is, too.
        let plain = try Self.place(Self.home).following("https://cdn.example/a", from: Self.home)
        #expect(Self.refusal("http://cam.example:8080/", in: plain) != nil)
    }

    @Test func `A low port is requested only on the server that the config names`() throws {
        let home = HTTPAddress(host: "cam.example", port: 81, path: "/live.m3u8")
        let place = Self.place(home)
        #expect(try place.following("http://cam.example:81/a.ts", from: home).isAtHome)
        #expect(throws: CameraFailure.self) { try place.following("http://cdn.example:81/a.ts", from: home) }
        let elsewhere = try place.following("http://cdn.example/a.m3u8", from: home)
        #expect(throws: CameraFailure.self) { try elsewhere.following("http://cam.example:81/a", from: home) }
    }

    @Test func `Damaged references keep the rules`() throws {
        let corpus = [
            "https://cdn.example:8443/a/b.ts?x=1", "//cdn.example/a.ts", "http://user:pass@cam.example:8080/x",
            "../../a.ts#b", "http://[2001:db8::1]:80/a", "http://127.1:22/", "https://cam.example@cdn.example/",
        ]
        let secure = HTTPAddress(host: "cam.example", port: 443, path: "/a/b.m3u8", isSecure: true)
        let places = [Self.place(Self.home), Self.place(secure), Self.place(Self.home, isAtHome: false)]
        let marks = Array("@:/?#[]\\%".utf8)
        var random = RandomSource.seeded(21)
        for round in 0..<6_000 {
            var bytes = Array(corpus[round % corpus.count].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: position)
                default: bytes.insert(marks[round % marks.count], at: position)
                }
            }
            let place = places[round / corpus.count % places.count]
            let reference = String(decoding: bytes, as: UTF8.self)
            guard let next = try? place.following(reference, from: Self.home) else { continue }
            let address = next.address
            #expect(next.reach == place.reach)
            #expect(!next.isAtHome || place.isAtHome && address.host.lowercased() == "cam.example")
            #expect(address.isSecure || !place.address.isSecure)
            #expect(
                address.port >= 1024 || [80, 443].contains(address.port) || address.isSameServer(as: place.address))
            let isSafe = (address.host + address.path).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            #expect(address.path.hasPrefix("/") && isSafe)
        }
    }

    @Test func `Hosts are counted, and forgotten when they are not needed any more`() {
        var allowance = HostAllowance()
        let begin = Instant.zero + .seconds(1)
        func admit(_ host: Int, _ seconds: Int) -> Bool { allowance.admit("h\(host)", at: begin + .seconds(seconds)) }
        let first = (0..<1_000).filter { admit($0, 0) }
        #expect(first == Array(0..<HostAllowance.maximum))
        let (known, other, written) = (admit(3, 500), admit(99, 599), allowance.admit("H3", at: begin + .seconds(500)))
        #expect(known && !other && written)
        let (later, many) = (admit(99, 700), (200..<300).filter { admit($0, 700) })
        #expect(later && many.count == HostAllowance.maximum - 2)
    }
}
