import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

@Suite struct PushAPITests {
    private let json = "application/json"
    private static let browser = PushEncryptionTests.Vector.browserPublic
    private static let secret = PushEncryptionTests.Vector.secret

    private static func body(
        endpoint: String = "https://push.example/the-secret-address", key: String = browser, secret: String = secret,
        wishes: String = "{}"
    ) -> String {
        #"{"endpoint":"\#(endpoint)","keys":{"p256dh":"\#(key)","auth":"\#(secret)"},"wishes":\#(wishes)}"#
    }

    @Test func `a browser subscribes, changes what it wants, and leaves`() async throws {
        let gateway = try TestGateway()
        try await gateway.addPerson("gatehouse_ana-00000000000000000000000000")
        try await gateway.run { client in
            let key = try await client.get("/v1/push").decoded(GatewayAPI.PushAnswer.self).publicKey
            #expect(Base64URL.bytes(key)?.count == P256Key.publicKeyLength)
            let made = try await client.send(.post, "/v1/push-subscriptions", Self.body(), type: json)
            #expect(made.status == .created)
            let own = try made.decoded(GatewayAPI.PushSubscriptionAnswer.self)
            #expect(own.service == "push.example" && own.wishes == .init())
            #expect(try await client.send(.post, "/v1/push-subscriptions", Self.body(), type: json).status == .ok)
            let path = "/v1/push-subscriptions/\(own.id)"
            let wishes =
                #"{"doorbell":false,"detections":["person","vehicle","person"],"devices":["door"],"picture":false}"#
            let changed = try await client.send(.patch, path, wishes, type: json)
                .decoded(GatewayAPI.PushSubscriptionAnswer.self)
            #expect(
                changed.wishes
                    == .init(doorbell: false, detections: [.person, .vehicle], devices: ["door"], picture: false))
            let list = try await client.get("/v1/push-subscriptions")
            #expect(try list.decoded(GatewayAPI.PushSubscriptionList.self).subscriptions == [changed])
            #expect(!list.text.contains("the-secret-address"))
            // Nobody else sees it, or touches it.
            let other = "gatehouse_ana-00000000000000000000000000"
            let others = try await client.send(.get, "/v1/push-subscriptions", token: other)
            #expect(try others.decoded(GatewayAPI.PushSubscriptionList.self).subscriptions.isEmpty)
            #expect(try await client.send(.delete, path, token: other).status == .notFound)
            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.send(.delete, path).status == .notFound)
        }
    }

    @Test func `somebody who only watches is not notified, and asks for nothing`() async throws {
        let gateway = try TestGateway()
        let link = "gatehouse_link-0000000000000000000000000"
        try await gateway.addToken(link, named: "link", Access([.init([.view], deviceID: "door")]))
        try await gateway.run { client in
            let refused = try await client.send(
                .post, "/v1/push-subscriptions", Self.body(), type: json, token: link)
            #expect(refused.status == .forbidden)
        }
        #expect(await gateway.api.push?.subscriptions.isEmpty == true)
    }

    @Test func `a few notifications can be tried within a minute`() async throws {
        let gateway = try TestGateway()
        try await gateway.addPerson("gatehouse_ana-00000000000000000000000000")
        try await gateway.run { client in
            func trial(_ endpoint: String, _ token: String) async throws -> @Sendable () async throws -> TestResponse {
                let made = try await client.send(
                    .post, "/v1/push-subscriptions", Self.body(endpoint: endpoint), type: json, token: token)
                let id = try made.decoded(GatewayAPI.PushSubscriptionAnswer.self).id
                return { try await client.send(.post, "/v1/push-subscriptions/\(id)/test", token: token) }
            }
            let first = try await trial("https://push.example/1", TestGateway.token)
            let second = try await trial("https://push.example/2", TestGateway.token)
            for number in 0..<PushTrials.most {
                let answer = try await (number.isMultiple(of: 2) ? first : second)()
                #expect(answer.status == .ok)
                #expect(try !answer.decoded(GatewayAPI.PushTrial.self).isAccepted)
            }
            #expect(try await first().status == .tooManyRequests)
            #expect(try await second().status == .tooManyRequests)
            // Everybody has trials of their own.
            let other = try await trial("https://push.example/3", "gatehouse_ana-00000000000000000000000000")
            #expect(try await other().status == .ok)
        }
    }

    @Test func `one notification is tried at a time, and a minute later others`() throws {
        var trials = PushTrials()
        let start = MonotonicClock.now
        try trials.begin(for: "ana", at: start)
        #expect(throws: HomeError.self) { try trials.begin(for: "ana", at: start) }
        try trials.begin(for: "bea", at: start)
        trials.end(for: "ana")
        for _ in 1..<PushTrials.most {
            try trials.begin(for: "ana", at: start)
            trials.end(for: "ana")
        }
        #expect(throws: HomeError.self) { try trials.begin(for: "ana", at: start) }
        try trials.begin(for: "ana", at: start + PushTrials.period)
    }

    @Test(arguments: [
        (body(endpoint: "https://192.168.1.1/x"), "endpoint"), (body(endpoint: "http://push.example/x"), "endpoint"),
        (body(key: "BA"), "keys"), (body(secret: "AA"), "keys"), (body(key: "not base64!"), "keys"),
        (body(key: Base64URL.text([4] + [UInt8](repeating: 9, count: 64))), "keys.p256dh"),
        (body(wishes: #"{"detections":["ghost"]}"#), "wishes.detections"), ("{}", "endpoint is missing"),
        ("[]", "object"),
    ])
    func `a subscription that is not a browser's is refused`(body: String, expected: String) async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let response = try await client.send(.post, "/v1/push-subscriptions", body, type: json)
            #expect(response.status == .badRequest)
            #expect(response.failure?.message.contains(expected) == true, "\(response.text)")
        }
    }

    @Test func `a picture of a notification needs its secret name, and ends`() async throws {
        let gateway = try TestGateway()
        let push = try #require(gateway.api.push)
        let (id, token) = push.pictures.add([0xFF, 0xD8], of: "door", for: "", at: MonotonicClock.now)
        let old = push.pictures.add(
            [0xFF], of: "door", for: "", at: MonotonicClock.now - PushService.pictureLifetime - .seconds(1))
        try await gateway.run { client in
            let picture = try await client.send(.get, "/v1/push-pictures/\(id)/\(token).jpg", token: nil)
            #expect(picture.status == .ok && picture.headers[.contentType] == "image/jpeg")
            for path in ["\(id)/x.jpg", "\(id)/\(token)", "x/\(token).jpg", "\(old.id)/\(old.token).jpg"] {
                #expect(try await client.send(.get, "/v1/push-pictures/\(path)", token: nil).status == .notFound)
            }
        }
    }

    @Test func `a gateway whose config says so notifies nobody`() throws {
        #expect(try GatewayConfiguration(yaml: "push: false").push == nil)
        let own = try GatewayConfiguration(yaml: "push: {services: [\"https://push.home:8443\"], ca: /ca.pem}").push
        #expect(own?.services == ["https://push.home:8443"] && own?.authorities == "/ca.pem")
        #expect(throws: ConfigurationError.self) {
            try GatewayConfiguration(yaml: "push: {services: [\"http://push.home\"]}")
        }
    }
}

extension TestGateway {
    /// Adds somebody who may read and watch.
    fileprivate func addPerson(_ token: String) async throws {
        try await addToken(token, named: "ana", Access([.init([.read, .view])]))
    }
}
