import Foundation
import HomeTypes
import SmartDeviceManagement
import Testing

@Suite struct SDMCommandTests {
    static let offer = "v=0\\r\\nm=audio 9 X 0\\r\\nm=video 9 X 0\\r\\nm=application 9 X 0\\r\\n"

    func body(_ name: String, _ parameters: String) -> Data {
        Data(#"{"command":"sdm.devices.commands.\#(name)","params":\#(parameters)}"#.utf8)
    }

    @Test func `the commands of live streams and pictures are read`() throws {
        let stream = "CameraLiveStream"
        #expect(
            try SDMCommand(json: body("\(stream).GenerateWebRtcStream", #"{"offerSdp":"\#(Self.offer)"}"#))
                == .generateWebRtcStream(offer: Self.offer.replacing("\\r\\n", with: "\r\n")))
        let session = #"{"mediaSessionId":"s"}"#
        #expect(
            try SDMCommand(json: body("\(stream).ExtendWebRtcStream", session)) == .extendWebRtcStream(session: "s"))
        #expect(try SDMCommand(json: body("\(stream).StopWebRtcStream", session)) == .stopWebRtcStream(session: "s"))
        #expect(
            try SDMCommand(json: body("CameraEventImage.GenerateImage", #"{"eventId":"e"}"#))
                == .generateImage(event: "e"))
    }

    @Test(arguments: [
        ("{}", "offerSdp value must be set. This is a required field."),
        (#"{"offerSdp":""}"#, "offerSdp value must be set. This is a required field."),
        (
            #"{"offerSdp":"v=0\r\nm=video 9 X 0\r\nm=audio 9 X 0\r\nm=application 9 X 0\r\n"}"#,
            "Invalid offer SDP: Offer must contain each of audio, video and application m lines in that order."
        ),
        (
            #"{"offerSdp":"v=0\r\nm=audio 9 X 0\r\nm=video 9 X 0\r\n"}"#,
            "Invalid offer SDP: Offer must contain each of audio, video and application m lines in that order."
        ),
        (#"{"offerSdp":7}"#, "params.offerSdp must be a string"),
    ])
    func `an offer that breaks the rules is refused with the words that clients know`(
        parameters: String, message: String
    ) {
        #expect(throws: HomeError.invalidArgument(message)) {
            try SDMCommand(json: body("CameraLiveStream.GenerateWebRtcStream", parameters))
        }
    }

    @Test func `unknown commands and malformed bodies are refused`() {
        #expect(throws: HomeError.self) { try SDMCommand(json: Data("[".utf8)) }
        #expect(throws: HomeError.self) { try SDMCommand(json: Data("{}".utf8)) }
        do {
            _ = try SDMCommand(json: body("ThermostatMode.SetMode", "{}"))
            Issue.record("a command that does not exist was read")
        } catch {
            #expect(error.code == .unimplemented)
        }
    }

    @Test func `damaged bodies never end the process`() {
        var random = SeededGenerator(seed: 7)
        let good = Array(body("CameraLiveStream.GenerateWebRtcStream", #"{"offerSdp":"\#(Self.offer)"}"#))
        for _ in 0..<5_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? SDMCommand(json: Data(bytes))
        }
    }
}

/// SplitMix64, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
