import HomeHub
import HomeTypes

/// A camera of the tests: its updates are what the test sends.
final class FakeCamera: CameraDriver {
    let deviceID: String
    let hasSpeaker: Bool
    private let stream: AsyncStream<CameraUpdate>
    private let continuation: AsyncStream<CameraUpdate>.Continuation

    init(_ deviceID: String, hasSpeaker: Bool = true) {
        self.deviceID = deviceID
        self.hasSpeaker = hasSpeaker
        (self.stream, self.continuation) = AsyncStream.makeStream()
    }

    func updates() -> AsyncStream<CameraUpdate> { self.stream }

    func send(_ update: CameraUpdate) { self.continuation.yield(update) }

    func finish() { self.continuation.finish() }

    func press() async throws(HomeError) {
        self.send(.doorbellPressed(.init(doorbellPressTimeSeconds: 1)))
    }

    var speakerReading: SpeakerReading? {
        self.hasSpeaker ? SpeakerReading(samples: 960, rootMeanSquare: 0.25, dominantFrequency: 440) : nil
    }

    static let flowing = CameraUpdate.source(
        CameraSourceStatus(
            state: .flowing,
            tracks: [CameraTrack(kind: "video", codec: "VP8"), CameraTrack(kind: "audio", codec: "opus")]))
}
