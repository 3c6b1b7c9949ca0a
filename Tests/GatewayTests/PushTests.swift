import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import NIOCore
import NIOPosix
import Signalling
import Testing
import Transport

@testable import Gateway

/// The key with this private number (SEC 1), which test vectors state. OpenSSL computes its public key.
private func key(_ number: String) throws -> P256Key {
    let scalar = try #require(Base64URL.bytes(number))
    // PKCS #8 (RFC 5208) with the number alone (RFC 5915).
    let head: [UInt8] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]
    let text = Data(head + scalar).base64EncodedString(options: .lineLength64Characters)
    return try P256Key(pem: "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n")
}

@Suite struct PushEncryptionTests {
    /// RFC 8291, section 5 and appendix A.
    enum Vector {
        static let message = "When I grow up, I want to be a watermelon"
        static let senderPrivate = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let senderPublic =
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
        static let browserPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
        static let browserPublic =
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
        static let shared = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"
        static let body =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBr"
            + "u3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    }

    private static func recipient(_ publicKey: String = Vector.browserPublic) throws -> PushEncryption.Recipient {
        .init(
            publicKey: try #require(Base64URL.bytes(publicKey)), secret: try #require(Base64URL.bytes(Vector.secret)))
    }

    @Test func `the example of RFC 8291 comes out byte for byte`() throws {
        let sender = try key(Vector.senderPrivate)
        #expect(Base64URL.text(sender.publicKey) == Vector.senderPublic)
        let shared = try sender.sharedSecret(with: try #require(Base64URL.bytes(Vector.browserPublic)))
        #expect(Base64URL.text(shared) == Vector.shared)
        let browser = try key(Vector.browserPrivate)
        #expect(try browser.sharedSecret(with: sender.publicKey) == shared)
        let encryption = PushEncryption(key: sender, salt: try #require(Base64URL.bytes(Vector.salt)))
        let body = try encryption.encrypted(Array(Vector.message.utf8), for: Self.recipient())
        #expect(Base64URL.text(body) == Vector.body)
    }

    @Test func `no two messages have a key or a salt in common`() throws {
        let bodies = try (0..<2).map { _ in try PushEncryption().encrypted([1, 2, 3], for: Self.recipient()) }
        #expect(bodies[0].prefix(16) != bodies[1].prefix(16) && bodies[0].dropFirst(21) != bodies[1].dropFirst(21))
    }

    @Test func `the longest message fills what services have to accept, and no longer one is made`() throws {
        let recipient = try Self.recipient()
        let longest = [UInt8](repeating: 7, count: PushEncryption.maximumLength)
        #expect(try PushEncryption().encrypted(longest, for: recipient).count == 4_096)
        #expect(throws: P256Key.Failure.self) { try PushEncryption().encrypted(longest + [7], for: recipient) }
    }

    @Test func `anything but a public key is refused`() throws {
        let sender = try P256Key.make()
        let good = try #require(Base64URL.bytes(Vector.browserPublic))
        var random = SystemRandomNumberGenerator()
        var wrong: [[UInt8]] = [[], [4], Array(good.dropLast()), good + [0], [UInt8](repeating: 0, count: 65)]
        for place in [0, 1, 33, 64] {
            var changed = good
            changed[place] ^= 0x55
            wrong.append(changed)
        }
        wrong += (0..<50).map { _ in [4] + (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
        for bytes in wrong { #expect(throws: P256Key.Failure.self) { try sender.sharedSecret(with: bytes) } }
    }

    @Test func `base64 for URLs is read with and without padding, and nothing else is`() {
        for bytes in [[], [0], [0, 0xFF], [0xFB, 0xEF, 0xFE], Array(UInt8.min ... .max)] as [[UInt8]] {
            #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
        }
        #expect(Base64URL.bytes("-_8=") == [0xFB, 0xFF])
        for text in ["a", "+/8", "ab c", "äöü"] { #expect(Base64URL.bytes(text) == nil, "\(text)") }
    }

    @Test func `a signature becomes two numbers of 32 bytes`() throws {
        let short = P256Key.numbers(ofSignature: [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07])
        #expect(short?.filter { $0 > 0 } == [5, 7])
        let long = [UInt8](repeating: 0xFF, count: 32)
        let der = [0x30, 0x46] + [0x02, 0x21, 0x00] + long + [0x02, 0x21, 0x00] + long
        #expect(P256Key.numbers(ofSignature: der) == long + long)
        for length in 0..<der.count { #expect(P256Key.numbers(ofSignature: Array(der.prefix(length))) == nil) }
        #expect(P256Key.numbers(ofSignature: der + [0]) == nil)
        #expect(P256Key.numbers(ofSignature: [0x30, 0x46, 0x02, 0x42] + long + long + [0, 0]) == nil)
        for _ in 0..<64 { #expect(try P256Key.make().signature(of: [1, 2, 3]).count == 64) }
    }

    @Test func `a claim names one service, ends within a day, and is for the key that browsers have`() throws {
        let vapid = VAPID(key: try P256Key.make())
        let header = try vapid.authorization(
            for: "https://push.example", subject: "https://home.example", at: Date(timeIntervalSince1970: 1_000))
        let match = try #require(header.wholeMatch(of: /vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)/))
        #expect(match.4 == vapid.publicKey)
        let body = Data(try #require(Base64URL.bytes(String(match.2))))
        let claims = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(claims["aud"] as? String == "https://push.example")
        #expect(claims["sub"] as? String == "https://home.example")
        #expect(claims["exp"] as? Int == 1_000 + 12 * 3_600)
        #expect(Base64URL.bytes(String(match.3))?.count == 64)
    }

    @Test func `the key survives a restart`() throws {
        let folder = try TemporaryFolder()
        let made = try VAPID.openOrCreate(in: folder.directory)
        #expect(try VAPID.openOrCreate(in: folder.directory).publicKey == made.publicKey)
    }
}

@Suite struct PushEndpointTests {
    @Test(arguments: [
        "https://fcm.googleapis.com/fcm/send/abc", "https://updates.push.services.mozilla.com/wpush/v2/x",
        "https://web.push.apple.com/Q", "https://wns2-par02p.notify.windows.com/w/?token=BQ%2f",
        "https://8.8.8.8/x", "https://[2606:4700::1111]/x",
    ])
    func `the services of browsers are accepted`(text: String) throws {
        #expect(try PushEndpoint(text, services: []).url == text)
    }

    @Test(arguments: [
        "", "http://push.example/x", "ftp://push.example/x", "https:///x", "https://user:word@push.example/x",
        "https://push.example/x#y", "https://push.example:8443/x", "https://localhost/x", "https://gateway.local/x",
        "https://nas/x", "https://metadata.google.internal/x", "https://127.0.0.1/x", "https://10.0.0.1/x",
        "https://192.168.1.1/x", "https://172.31.0.1/x", "https://169.254.169.254/latest", "https://100.64.0.1/x",
        "https://0.0.0.0/x", "https://224.0.0.1/x", "https://[::1]/x", "https://[fe80::1]/x", "https://[fd00::1]/x",
        "https://[::ffff:10.0.0.1]/x", "https://[64:ff9b::a00:1]/x", "https://[2002:a00:1::]/x",
        "https://push.example./x",
        "https://push.example/a b", "https://push.example/\u{E4}", "https://push.localhost/x",
        "https://push%2Eexample/x", "https://%70ush.example/x", "https://[fe80::1%25eth0]/x",
    ])
    func `nothing else is`(text: String) {
        #expect(throws: HomeError.self) { try PushEndpoint(text, services: []) }
    }

    @Test(arguments: [
        ("https://PUSH.Example/X?Y=%2f", "https://push.example/X?Y=%2f"),
        ("HTTPS://push.example:443/", "https://push.example/"),
        ("https://[2606:4700::ABCD]/x", "https://[2606:4700::abcd]/x"),
    ])
    func `requests go to the host that was checked, in the same letters`(text: String, url: String) throws {
        #expect(try PushEndpoint(text, services: []).url == url)
    }

    @Test func `a host in capital letters is connected to at the address that was checked`() async throws {
        let (connections, connected) = AsyncStream<Void>.makeStream()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                connected.yield()
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let lookedUp = Locked<[String]>([])
        var settings = GatewayConfiguration.Push()
        settings.services = ["https://push.example:\(port)"]
        let client = PushClient(
            vapid: VAPID(key: try P256Key.make()), settings: settings,
            lookUp: { (host, port) async throws(UnknownHostName) in
                lookedUp.withLock { $0.append(host) }
                return [TransportAddress(ipv4: 0x7F00_0001, port: port)]
            })
        let recipient = PushEncryption.Recipient(
            publicKey: try #require(Base64URL.bytes(PushEncryptionTests.Vector.browserPublic)),
            secret: try #require(Base64URL.bytes(PushEncryptionTests.Vector.secret)))
        let subscription = PushSubscription(
            id: "p", principal: "ana", endpoint: "https://PUSH.Example:\(port)/x", recipient: recipient,
            wishes: .init(), page: "https://home.example", createdAt: Date())
        let sending = Task {
            _ = await client.send([1], topic: "test", to: subscription)
            connected.finish()
        }
        var count = 0
        for await _ in connections {
            count += 1
            break
        }
        // The listener is not the service. That the client came to it is enough.
        sending.cancel()
        await sending.value
        #expect(count == 1 && lookedUp.withLock { $0 } == ["push.example"])
        try await listener.close().get()
    }

    @Test func `a service that the config lists may be in the house`() throws {
        let services = ["https://push.home:8443"]
        #expect(try PushEndpoint("https://push.home:8443/x", services: services).isListed)
        // The same name at the usual port is a service like any other, whose address is looked at.
        #expect(try !PushEndpoint("https://push.home/x", services: services).isListed)
        for other in ["https://push.home:8444/x", "http://push.home:8443/x"] {
            #expect(throws: HomeError.self) { try PushEndpoint(other, services: services) }
        }
        #expect(throws: HomeError.self) {
            try PushEndpoint("https://push.example/" + String(repeating: "x", count: 1_100), services: [])
        }
    }

    @Test func `a name that leads into a private network is not connected to`() async throws {
        let endpoint = try PushEndpoint("https://push.example/x", services: [])
        func connect(_ addresses: [String]) async throws -> TransportAddress {
            let found = addresses.compactMap { TransportAddress($0, port: 443) }
            return try await endpoint.address { (_, _) async throws(UnknownHostName) in found }
        }
        #expect(try await connect(["93.184.215.14"]).host == "93.184.215.14")
        for addresses in [
            ["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::ffff:192.168.0.1"], ["fd00::1"], ["198.18.0.1"],
            ["192.0.2.1"], ["2001:db8::1"], ["64:ff9b::7f00:1"], ["4000::1"], [],
        ] {
            await #expect(throws: HomeError.self, "\(addresses)") { try await connect(addresses) }
        }
    }

    @Test func `what a status means`() {
        #expect(PushClient.outcome(201, nil, host: "p").0 == .accepted)
        for status in [404, 410] { #expect(PushClient.outcome(status, nil, host: "p").0 == .gone) }
        for status in [400, 401, 403, 413, 301] {
            #expect(PushClient.outcome(status, nil, host: "p").0 == .refused(status: status))
        }
        for status in [408, 429, 500, 503] {
            #expect(PushClient.outcome(status, .seconds(3), host: "p").0 == .failed(retryAfter: .seconds(3)))
        }
    }
}

@Suite struct PushSubscriptionTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let recipient = PushEncryption.Recipient(publicKey: [4], secret: [1])
    /// The store keeps whole seconds.
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func endpoint(_ number: Int) throws -> PushEndpoint {
        try PushEndpoint("https://push.example/\(number)", services: [])
    }

    @Test func `browsers are kept, changed, and forgotten with their person`() async throws {
        let store = MemorySharedStore()
        let browsers = PushSubscriptions(store: store, logger: Self.logger)
        let (first, isNew) = try await browsers.put(
            Self.endpoint(1), Self.recipient, .init(), page: "https://home.example", for: "ana", at: Self.now)
        #expect(isNew)
        let again = try await browsers.put(
            Self.endpoint(1), Self.recipient, .init(detections: [.person]), page: "https://home.example", for: "bea",
            at: Self.now)
        // Bea has signed in on Ana's browser.
        #expect(!again.isNew && again.subscription.id == first.id)
        #expect(await browsers.all(of: "ana").isEmpty)
        _ = try await browsers.change(first.id, of: "bea", to: .init(doorbell: false))
        await #expect(throws: HomeError.self) { try await browsers.change(first.id, of: "ana", to: .init()) }
        await #expect(throws: HomeError.self) { try await browsers.remove(first.id, of: "ana") }
        // A gateway that starts again knows them.
        let later = PushSubscriptions(store: store, logger: Self.logger)
        #expect(await later.all == [try await browsers.subscription(first.id, of: "bea")])
        await later.end(of: "bea")
        #expect(await later.isEmpty)
        #expect(await PushSubscriptions(store: store, logger: Self.logger).isEmpty)
    }

    @Test func `browsers of those whose tokens ended while the gateway was stopped are forgotten`() async throws {
        let store = MemorySharedStore()
        let before = PushSubscriptions(store: store, logger: Self.logger)
        for (number, principal) in ["ana", "bea", "carl"].enumerated() {
            _ = try await before.put(
                Self.endpoint(number), Self.recipient, .init(), page: "https://home.example", for: principal,
                at: Self.now)
        }
        let push = PushService(
            hub: try TestGateway().hub, subscriptions: PushSubscriptions(store: store, logger: Self.logger),
            vapid: VAPID(key: try P256Key.make()), settings: .init(),
            accessOf: { $0 == "ana" ? .everything : .nothing },
            // The record of the token cannot be read.
            isUnknown: { $0 == "carl" }, logger: Self.logger)
        push.stop()
        await push.run()
        #expect(await push.subscriptions.all.map(\.principal).sorted() == ["ana", "carl"])
        #expect(await PushSubscriptions(store: store, logger: Self.logger).all.count == 2)
    }

    /// What happens to Ana's browser while its service does not answer.
    enum Meanwhile: CaseIterable, Sendable { case nothing, rightIsLost, somebodyElseSignsIn }

    @Test(arguments: Meanwhile.allCases)
    func `a message that is sent again goes only to a person who may still get it`(meanwhile: Meanwhile) async throws {
        let browsers = PushSubscriptions(store: nil, logger: Self.logger)
        let endpoint = try Self.endpoint(1)
        @Sendable func add(_ principal: String) async throws -> PushSubscription {
            try await browsers.put(
                endpoint, Self.recipient, .init(), page: "https://home.example", for: principal, at: Self.now
            ).subscription
        }
        let access = Locked(Access.everything)
        let attempts = Locked(0)
        let vapid = VAPID(key: try P256Key.make())
        let client = PushClient(
            vapid: vapid, settings: .init(),
            lookUp: { (_, _) async throws(UnknownHostName) in
                attempts.withLock { $0 += 1 }
                switch meanwhile {
                case .nothing: break
                case .rightIsLost: access.withLock { $0 = .nothing }
                case .somebodyElseSignsIn: _ = try? await add("bea")
                }
                // The service has no address now.
                return []
            })
        let push = PushService(
            hub: try TestGateway().hub, subscriptions: browsers, vapid: vapid, settings: .init(), client: client,
            accessOf: { $0 == "ana" ? access.withLock { $0 } : .nothing }, pauses: [.nanoseconds(1)],
            logger: Self.logger)
        let browser = try await add("ana")
        await push.send(PushHappening(kind: .doorbell, deviceID: "door", date: Self.now), to: browser)
        #expect(attempts.withLock { $0 } == (meanwhile == .nothing ? 2 : 1))
    }

    @Test func `one person does not take all places`() async throws {
        let browsers = PushSubscriptions(store: nil, logger: Self.logger)
        func add(_ number: Int, for principal: String) async throws {
            _ = try await browsers.put(
                Self.endpoint(number), Self.recipient, .init(), page: "https://home.example", for: principal, at: Date()
            )
        }
        let share = PushSubscriptions.shares.share
        for number in 0..<share { try await add(number, for: "ana") }
        await #expect(throws: HomeError.self) { try await add(share, for: "ana") }
        try await add(share, for: "bea")
    }

    @Test func `a browser that is gone, or that its service refuses again and again, is forgotten`() async throws {
        let browsers = PushSubscriptions(store: MemorySharedStore(), logger: Self.logger)
        var ids: [String] = []
        for number in 0..<2 {
            ids.append(
                try await browsers.put(
                    Self.endpoint(number), Self.recipient, .init(), page: "https://home.example", for: "ana", at: Date()
                ).subscription.id)
        }
        await browsers.record(.gone, of: ids[0])
        #expect(await browsers.all.map(\.id) == [ids[1]])
        for _ in 1..<PushSubscriptions.patience { await browsers.record(.refused(status: 403), of: ids[1]) }
        await browsers.record(.accepted, of: ids[1])
        for _ in 1..<PushSubscriptions.patience { await browsers.record(.refused(status: 403), of: ids[1]) }
        await browsers.record(.failed(retryAfter: nil), of: ids[1])
        #expect(await browsers.all.count == 1)
        await browsers.record(.refused(status: 403), of: ids[1])
        #expect(await browsers.isEmpty)
    }

    @Test func `a browser hears what it wants to hear`() {
        func wants(_ wishes: PushSubscription.Wishes, _ kind: PushHappening.Kind) -> Bool {
            PushSubscription(
                id: "p", principal: "ana", endpoint: "", recipient: Self.recipient, wishes: wishes, page: "",
                createdAt: Date()
            ).wants(PushHappening(kind: kind, deviceID: "door", date: Date()))
        }
        #expect(wants(.init(), .doorbell) && !wants(.init(), .detection(.person)) && wants(.init(), .test))
        #expect(!wants(.init(doorbell: false), .doorbell))
        #expect(wants(.init(detections: [.person]), .detection(.person)))
        #expect(!wants(.init(detections: [.person]), .detection(.vehicle)))
        #expect(wants(.init(detections: [.person], devices: ["door"]), .detection(.person)))
        #expect(!wants(.init(detections: [.person], devices: ["yard"]), .detection(.person)))
        // Somebody at a door is for everybody who wants to know of doorbells.
        #expect(wants(.init(devices: ["yard"]), .doorbell))
    }

    @Test func `presses and beginnings of detections are worth a notification, ends are not`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: PushHappening.self)
        let observer = PushObserver(inbox: continuation)
        func report(_ name: String, _ fields: [String: JSONObject.Value] = [:]) {
            observer.take(.event(deviceID: "door", endpoint: 1, trait: "x", name: name, fields: fields))
        }
        report("DoorbellPressed")
        report("Person", ["phase": .text("began")])
        report("Person", ["phase": .text("ended")])
        report("Motion", ["phase": .text("momentary")])
        report("PushTransportBegin")
        observer.take(.deviceRemoved(id: "door"))
        continuation.finish()
        var kinds: [PushHappening.Kind] = []
        for await happening in stream { kinds.append(happening.kind) }
        #expect(kinds == [.doorbell, .detection(.person), .detection(.motion)])
    }
}
