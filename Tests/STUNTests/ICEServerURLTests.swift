import STUN
import Testing

@Suite struct ICEServerURLTests {
    @Test(arguments: [
        ("stun:stun.example", "stun:stun.example:3478"), ("STUN:stun.example:19302", "stun:stun.example:19302"),
        ("stuns:stun.example", "stuns:stun.example:5349"), ("turn:192.0.2.1", "turn:192.0.2.1:3478"),
        ("turn:[2001:db8::1]:80?transport=tcp", "turn:[2001:db8::1]:80?transport=tcp"),
        ("turn:turn.example?transport=udp", "turn:turn.example:3478"),
        ("turns:turn.example:443?transport=tcp", "turns:turn.example:443"),
    ])
    func urlsAreRead(text: String, expected: String) throws {
        let url = try #require(ICEServerURL(text))
        #expect(url.description == expected)
        #expect(ICEServerURL(url.description) == url)
    }

    @Test(arguments: [
        "", "stun", "stun:", "http:stun.example", "stun:a b", "stun:x:0", "stun:x:70000", "stun:[::1", "stun:[nope]:1",
        "stun:2001:db8::1", "stun:x?transport=tcp", "turn:x?transport=sctp", "turn:x?", "stun://x", "stun:u@x",
    ])
    func otherTextIsRefused(text: String) {
        #expect(ICEServerURL(text) == nil)
    }
}
