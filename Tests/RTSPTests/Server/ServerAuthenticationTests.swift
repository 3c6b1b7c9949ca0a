import Testing
import Transport

@testable import RTSP

@Suite("RTSP server: credentials")
struct ServerAuthenticationTests {
    @Test("OPTIONS is answered for anybody, and everything else asks for credentials first")
    func challenge() {
        let conversation = ServerConversation()
        #expect(conversation.request("OPTIONS")?.status == 200)
        for method in ["DESCRIBE", "SETUP", "PLAY", "GET_PARAMETER", "TEARDOWN", "ANNOUNCE", "RECORD"] {
            let response = conversation.request(method)
            #expect(response?.status == 401, "\(method)")
            #expect(response?.headers.all("WWW-Authenticate").count == 2)
        }
        #expect(conversation.events.isEmpty)
    }

    @Test("digests of MD5 and of SHA-256 with a quality of protection are accepted", arguments: [0, 1])
    func digests(index: Int) {
        let conversation = ServerConversation()
        let algorithm: DigestAlgorithm = index == 0 ? .md5 : .sha256
        let response = conversation.signIn { $0.scheme == .digest(algorithm, isSession: false) }
        #expect(response?.status == 200)
        #expect(conversation.isAuthenticated)
    }

    @Test("a wrong password is refused and reported, and ends the connection after a few times")
    func wrong() {
        let conversation = ServerConversation()
        #expect(conversation.signIn(password: "wrong")?.status == 401)
        #expect(conversation.events == [.refusedCredentials])
        for _ in 0..<3 { #expect(conversation.request("DESCRIBE")?.status == 401) }
        #expect(!conversation.isClosing)
        let last = conversation.request("DESCRIBE")
        #expect(last?.status == 401)
        #expect(last?.headers["Connection"] == "close")
        #expect(conversation.isClosing)
        #expect(!conversation.isAuthenticated)
    }

    @Test("a correct password with a stale nonce is answered as such, and need not be asked for again")
    func stale() {
        let conversation = ServerConversation()
        #expect(conversation.signIn()?.status == 200)
        conversation.now += .seconds(301)
        let response = conversation.request("DESCRIBE")
        #expect(response?.status == 401)
        let challenges = Challenge.list(response?.headers.all("WWW-Authenticate") ?? [])
        #expect(challenges.map(\.isStale) == [true, true])
        #expect(conversation.refusals == 0)
        if let response { conversation.take(response) }
        #expect(conversation.request("DESCRIBE")?.status == 200)
    }

    @Test("a nonce of another connection is stale")
    func foreignNonce() {
        let first = ServerConversation()
        guard let challenge = first.request("DESCRIBE") else { return }
        let second = ServerConversation()
        second.session.random = .seeded(99)
        _ = second.request("DESCRIBE")
        second.take(challenge)
        let response = second.request("DESCRIBE")
        #expect(response?.status == 401)
        #expect(response?.headers.all("WWW-Authenticate").first?.contains("stale=TRUE") == true)
    }

    @Test("a session's own requests work with a stale nonce, which clients do not notice")
    func keepAlive() {
        let conversation = ServerConversation()
        conversation.setUpBoth()
        _ = conversation.request("PLAY")
        for _ in 0..<10 {
            conversation.now += .seconds(60)
            #expect(conversation.request("GET_PARAMETER")?.status == 200)
        }
        #expect(conversation.request("TEARDOWN")?.status == 200)
    }

    @Test("Basic is refused unless it is allowed")
    func basic() {
        // "u:" and the password, in Base64.
        let value = "Basic " + Base64.encode(Array("u:\(ServerConversation.password)".utf8))
        let strict = ServerConversation()
        #expect(strict.request("DESCRIBE", "rtsp://h/drive", ["Authorization: \(value)"])?.status == 401)
        let lenient = ServerConversation { $0.authentication.allowsBasic = true }
        #expect(lenient.request("DESCRIBE", "rtsp://h/drive", ["Authorization: \(value)"])?.status == 200)
        let wrong = "Basic " + Base64.encode(Array("u:\(ServerConversation.password)x".utf8))
        #expect(lenient.request("DESCRIBE", "rtsp://h/drive", ["Authorization: \(wrong)"])?.status == 401)
        for text in ["Basic", "Basic !", "Basic ", "Bearer x", "Digest", "Digest username=\"\"", "\"", ","] {
            let other = ServerConversation { $0.authentication.allowsBasic = true }
            #expect(other.request("DESCRIBE", "rtsp://h/drive", ["Authorization: \(text)"])?.status == 401)
        }
    }

    @Test("without any password nobody gets in")
    func noPassword() {
        let conversation = ServerConversation {
            $0.authentication = RTSPAuthentication(passwords: [""], allowsBasic: true)
        }
        #expect(conversation.signIn(password: "")?.status == 401)
        let empty = "Basic " + Base64.encode(Array("u:".utf8))
        #expect(conversation.request("DESCRIBE", "rtsp://h/drive", ["Authorization: \(empty)"])?.status == 401)
    }

    @Test("answers and requests wait while the driver holds them")
    func hold() {
        let conversation = ServerConversation()
        _ = conversation.signIn(password: "wrong")
        conversation.session.hold(until: conversation.now + .seconds(2))
        #expect(conversation.request("OPTIONS") == nil)
        #expect(conversation.nextDeadline == .zero + .seconds(2))
        conversation.now += .seconds(2)
        conversation.run()
        #expect(
            ServerConversation.responses(
                conversation.takeOutput()
            ).map(\.status) == [200])
    }

    @Test("the passwords do not print")
    func redacted() {
        let authentication = RTSPAuthentication(passwords: [ServerConversation.password])
        var dump = ""
        Swift.dump(authentication, to: &dump)
        #expect(!"\(authentication)\(String(reflecting: authentication))\(dump)".contains("0123456789"))
    }
}
