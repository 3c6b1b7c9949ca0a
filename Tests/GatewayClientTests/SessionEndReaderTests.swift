import GatewayClient
import Testing

@Suite struct SessionEndReaderTests {
    private static func event(
        _ change: String, session: String = "s1", reason: String? = nil, name: String = "session"
    ) -> GatewayEvent {
        let reason = reason.map { #","endReason":"\#($0)""# } ?? ""
        return GatewayEvent(
            name: name, id: "1", data: #"{"change":"\#(change)","session":{"mediaSessionId":"\#(session)"\#(reason)}}"#)
    }

    @Test func `the end of the session is found with its reason`() {
        var reader = SessionEndReader(session: "s1")
        let answer1 = reader.take(.state([Self.event("started")]))
        #expect(!answer1)
        let answer2 = reader.take(.change(Self.event("changed")))
        #expect(!answer2)
        let answer3 = reader.take(.change(Self.event("ended", reason: "the camera was switched off")))
        #expect(answer3)
        #expect(reader.reason == "the camera was switched off")
    }

    @Test func `ends of other sessions and other events are not taken for it`() {
        var reader = SessionEndReader(session: "s1")
        let answer4 = reader.take(.change(Self.event("ended", session: "s2", reason: "x")))
        #expect(!answer4)
        let answer5 = reader.take(.change(Self.event("ended", reason: "x", name: "device")))
        #expect(!answer5)
        let answer6 = reader.take(.change(GatewayEvent(name: "session", data: "{}")))
        #expect(!answer6)
        let answer7 = reader.take(.missed(GatewayEvent(name: "missed", data: #"{"reason":"x"}"#)))
        #expect(!answer7)
        #expect(reader.reason == nil)
    }

    @Test func `an end without a reason is an end`() {
        var reader = SessionEndReader(session: "s1")
        let answer8 = reader.take(.state([Self.event("started", session: "s2"), Self.event("ended")]))
        #expect(answer8)
        #expect(reader.reason == nil)
    }
}
