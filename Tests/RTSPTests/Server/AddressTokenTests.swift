import Testing
import Transport

@testable import RTSP

/// Tokens in the addresses of programs that take nothing else.
@Suite struct AddressTokenTests {
    private static func conversation() -> ServerConversation {
        ServerConversation { configuration in
            configuration.authentication.addressPrincipal = { token, path in
                token == "right" && path == "drive" ? "guest" : nil
            }
        }
    }

    private static let setUp = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"]

    @Test func `a token in an address opens the camera, also where tracks are asked for without it`() {
        let conversation = Self.conversation()
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/drive?token=right")?.status == 200)
        #expect(conversation.session.principal == "guest")
        #expect(conversation.request("SETUP", "rtsp://host:8554/drive/trackID=0", Self.setUp)?.status == 200)
        #expect(conversation.request("PLAY", "rtsp://host:8554/drive?token=right")?.status == 200)
        #expect(conversation.request("TEARDOWN", "rtsp://host:8554/drive")?.status == 200)
    }

    @Test func `a control attribute may follow the query`() {
        let conversation = Self.conversation()
        #expect(
            conversation.request("SETUP", "rtsp://host:8554/drive?token=right/trackID=0", Self.setUp)?.status == 200)
    }

    @Test func `another token, another path and no token are refused`() {
        for uri in [
            "rtsp://host:8554/drive?token=wrong", "rtsp://host:8554/yard?token=right", "rtsp://host:8554/drive",
            "rtsp://host:8554/drive?token=", "rtsp://host:8554/drive?Token=right",
            "rtsp://host:8554/drive?token=" + String(repeating: "a", count: 600),
        ] {
            let conversation = Self.conversation()
            #expect(conversation.request("DESCRIBE", uri)?.status == 401, "\(uri)")
            #expect(!conversation.isAuthenticated)
        }
    }

    @Test func `what one token has opened opens nothing else on the connection`() {
        let conversation = Self.conversation()
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/drive?token=right")?.status == 200)
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/yard")?.status == 401)
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/recordings/drive?token=right")?.status == 401)
    }

    @Test func `a token that has ended opens no track of what it has opened before`() {
        let works = Locked(true)
        let conversation = ServerConversation { configuration in
            configuration.authentication.addressPrincipal = { _, _ in works.withLock { $0 } ? "guest" : nil }
        }
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/drive?token=right")?.status == 200)
        works.withLock { $0 = false }
        #expect(conversation.request("SETUP", "rtsp://host:8554/drive/trackID=0", Self.setUp)?.status == 401)
    }

    @Test func `guessing ends the connection, as with passwords`() {
        let conversation = Self.conversation()
        for _ in 0..<5 { _ = conversation.request("DESCRIBE", "rtsp://host:8554/drive?token=wrong") }
        #expect(conversation.isClosing && conversation.refusals == 5)
    }

    @Test func `the owner's password works as before`() {
        #expect(Self.conversation().signIn()?.status == 200)
        let conversation = ServerConversation()
        #expect(conversation.request("DESCRIBE", "rtsp://host:8554/drive?token=right")?.status == 401)
    }
}
